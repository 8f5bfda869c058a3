// FSM: the state at run time is an `AnyEpisode`
use omen::prelude::*;

fn agent(_episode: AnyEpisode) {}

fn main() {}
