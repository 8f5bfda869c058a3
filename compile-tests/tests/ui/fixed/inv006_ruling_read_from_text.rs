// INV-006: propose what a model writes
use omen::*;

fn agent(episode: AnyEpisode, text: &str) -> Result<Moved, NotMoved> {
    episode.propose(text)
}

fn main() {}
