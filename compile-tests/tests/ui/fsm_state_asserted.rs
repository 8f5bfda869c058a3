// FSM: a wrong state as a type annotation -> E0308
use omen::prelude::*;

fn agent(episode: Episode<Idle>) -> Episode<Model> {
    episode
}

fn main() {}
