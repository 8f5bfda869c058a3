// INV-009: add a gap
use omen::*;

fn agent(episode: Episode<Decide<Escalate>>, options: [Choice; 2], gap: Gap, next_step: Recommendation) {
    let trigger = EscalationTrigger::ContradictionUnresolved;
    let _ = episode.escalate(Escalation { trigger, options, gaps: [gap], next_step });
}

fn main() {}
