// FSM: in a loop
use omen::prelude::*;

fn agent(episode: Episode<AnyLoop>) {
    let _ = episode.complete();
}

fn main() {}
