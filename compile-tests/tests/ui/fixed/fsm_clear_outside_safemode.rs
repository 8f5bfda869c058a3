// FSM: halt first
use omen::*;

fn agent(episode: Episode<Model>, permission: Layer1Order) {
    let _ = episode.halt(text!("the pool is gone")).clear(permission);
}

fn main() {}
