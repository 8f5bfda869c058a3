// E7: what is known is written down
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>) -> Episode<SafeMode> {
    episode.believe(Belief::new("db", "pool.max", "unknown"))
}

fn main() {}
