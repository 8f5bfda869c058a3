// INV-009: give three options
use omen::*;

fn agent(episode: Episode<Decide<Escalate>>, [a, b, c]: [Choice; 3], gap: Gap, next_step: Recommendation) {
    let trigger = EscalationTrigger::ContradictionUnresolved;
    let _ = episode.escalate(Escalation { trigger, options: [a, b, c], gaps: [gap], next_step });
}

fn main() {}
