// FSM: an observation during an escalation -> E0277
use omen::*;

fn agent(episode: Episode<Escalated>, seen: Observation<Observed>) {
    let _ = episode.observe(seen);
}

fn main() {}
