// FSM: use a state of the protocol
use omen::*;

fn agent(episode: Episode<impl Typestate>) {
    let _ = episode.into_any();
}

fn main() {}
