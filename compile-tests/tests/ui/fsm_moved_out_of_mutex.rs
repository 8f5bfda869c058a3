// FSM: an episode moved out of a `Mutex` -> E0507
use omen::prelude::*;

fn agent(episode: &std::sync::Mutex<Episode<Sense>>) -> Option<Episode<Model>> {
    Some(episode.lock().ok()?.believe(Belief::new("db", "pool.max", 50)))
}

fn main() {}
