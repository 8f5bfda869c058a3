// FSM: an answer that nobody was asked for -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Sense>, answer: Answer) {
    let _ = episode.answered(answer);
}

fn main() {}
