// FSM: an escalation without a decision -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>, escalation: Escalation<2, 1>) {
    let _ = episode.escalate(escalation);
}

fn main() {}
