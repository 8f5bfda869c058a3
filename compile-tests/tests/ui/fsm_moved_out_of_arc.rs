// FSM: an episode moved out of an `Arc` -> E0507
use omen::prelude::*;

fn agent(episode: std::sync::Arc<Episode<Sense>>) -> Episode<Model> {
    episode.believe(Belief::new("db", "pool.max", 50))
}

fn main() {}
