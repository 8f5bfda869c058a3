// FSM: an answer without an escalation -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Sense>, answer: Answer) {
    let _ = episode.answered(answer);
}

fn main() {}
