// FSM: a verification plan without a decision -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>, plan: Plan) {
    let _ = episode.verify(plan);
}

fn main() {}
