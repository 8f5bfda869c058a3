// FSM: verify in a verification loop
use omen::*;

fn agent(episode: Episode<AnyLoop>) {
    let _ = episode.complete();
}

fn main() {}
