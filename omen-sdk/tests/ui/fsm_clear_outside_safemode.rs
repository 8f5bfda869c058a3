// FSM: the end of a safe mode that never began -> E0277
use omen::*;

fn agent(episode: Episode<Model>, permission: Layer1Order) {
    let _ = episode.clear(permission);
}

fn main() {}
