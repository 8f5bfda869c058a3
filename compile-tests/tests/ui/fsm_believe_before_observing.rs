// FSM: a belief update before an observation -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Idle>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
