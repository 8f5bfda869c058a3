// INV-009: give two options
use omen::*;

fn agent(episode: Episode<Decide<Escalate>>, [a, b]: [Choice; 2], gap: Gap, next_step: Recommendation) {
    let trigger = EscalationTrigger::ContradictionUnresolved;
    let _ = episode.escalate(Escalation { trigger, options: [a, b], gaps: [gap], next_step });
}

fn main() {}
