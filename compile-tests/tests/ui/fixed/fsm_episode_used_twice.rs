// FSM: use the returned episode
use omen::prelude::*;

fn agent(episode: Episode<Sense>, seen: Observation<Observed>) {
    let _ = episode.observe(seen).believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
