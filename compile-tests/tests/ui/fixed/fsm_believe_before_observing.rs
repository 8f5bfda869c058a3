// FSM: observe first
use omen::prelude::*;

fn agent(episode: Episode<Idle>, seen: Observation<Observed>) {
    let _ = episode.observe(seen).believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
