// FSM: wait for the answer
use omen::*;

fn agent(episode: Episode<Escalated>, answer: Answer) {
    let _ = episode.answered(answer);
}

fn main() {}
