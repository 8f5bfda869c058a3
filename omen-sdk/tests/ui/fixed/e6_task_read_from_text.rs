// E6: an episode is taken up from its log, and has its tasks
use omen::prelude::*;

fn agent(setup: Setup, log: &[String]) -> Vec<Pending> {
    match AnyEpisode::resume(setup, log.iter().map(String::as_str)) {
        Ok(AnyEpisode::ExecuteOpen(episode)) => episode.tasks(),
        _ => Vec::new(),
    }
}

fn main() {}
