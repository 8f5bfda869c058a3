// FSM: move the episode out as its last owner
use omen::prelude::*;

fn agent(episode: std::sync::Arc<Episode<Sense>>) -> Option<Episode<Model>> {
    Some(std::sync::Arc::into_inner(episode)?.believe(Belief::new("db", "pool.max", 50)))
}

fn main() {}
