// INV-006: what a model writes is proposed
use omen::*;

fn agent(episode: AnyEpisode, text: &str) -> Result<Moved, NotMoved> {
    episode.propose(text)
}

fn main() {}
