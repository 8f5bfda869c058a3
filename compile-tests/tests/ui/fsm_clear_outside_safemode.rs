// FSM: ending safe mode outside safe mode -> E0277
use omen::*;

fn agent(episode: Episode<Model>, permission: Layer1Order) {
    let _ = episode.clear(permission);
}

fn main() {}
