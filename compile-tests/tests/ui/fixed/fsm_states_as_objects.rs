// FSM: store an `AnyEpisode`
use omen::prelude::*;

fn agent(_episode: AnyEpisode) {}

fn main() {}
