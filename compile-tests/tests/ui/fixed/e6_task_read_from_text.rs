// E6: take the tasks from a resumed episode
use omen::prelude::*;

fn agent(setup: Setup, log: &[String]) -> Vec<Pending> {
    match AnyEpisode::resume(setup, log.iter().map(String::as_str)) {
        Ok(AnyEpisode::ExecuteOpen(episode)) => episode.tasks(),
        _ => Vec::new(),
    }
}

fn main() {}
