// INV-009: an escalation without a gap -> E0277
use omen::*;

fn agent(episode: Episode<Decide<Escalate>>, options: [Choice; 2], next_step: Recommendation) {
    let trigger = EscalationTrigger::ContradictionUnresolved;
    let _ = episode.escalate(Escalation { trigger, options, gaps: [], next_step });
}

fn main() {}
