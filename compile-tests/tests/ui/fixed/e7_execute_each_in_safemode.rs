// E7: record it in a belief update
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>) -> Episode<SafeMode> {
    episode.believe(Belief::new("db", "pool.max", "unknown"))
}

fn main() {}
