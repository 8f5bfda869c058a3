// FSM: store an `Option` and take it out
use omen::prelude::*;

fn agent(episode: &std::sync::Mutex<Option<Episode<Sense>>>) -> Option<Episode<Model>> {
    Some(episode.lock().ok()?.take()?.believe(Belief::new("db", "pool.max", 50)))
}

fn main() {}
