// INV-009: an escalation with four options -> E0277
use omen::*;

fn agent(episode: Episode<Decide<Escalate>>, [a, b, c, d]: [Choice; 4], gap: Gap, next_step: Recommendation) {
    let trigger = EscalationTrigger::ContradictionUnresolved;
    let _ = episode.escalate(Escalation { trigger, options: [a, b, c, d], gaps: [gap], next_step });
}

fn main() {}
