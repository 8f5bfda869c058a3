// FSM: wait for the answer
use omen::prelude::*;

fn agent(episode: Episode<Escalated>, answer: Answer) {
    let _ = episode.answered(answer);
}

fn main() {}
