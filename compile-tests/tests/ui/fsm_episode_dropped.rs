// FSM: an unused episode -> unused_must_use
#![deny(unused_must_use)]
use omen::prelude::*;

fn agent(episode: Episode<Execute>) {
    episode.review(Belief::new("db", "pool.max", 50));
}

fn main() {}
