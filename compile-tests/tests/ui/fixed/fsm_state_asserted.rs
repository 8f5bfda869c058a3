// FSM: reach the state move by move
use omen::prelude::*;

fn agent(episode: Episode<Idle>, seen: Observation<Observed>) -> Episode<Model> {
    episode.observe(seen).believe(Belief::new("db", "pool.max", 50))
}

fn main() {}
