// FSM: a belief about nothing that was seen -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Idle>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
