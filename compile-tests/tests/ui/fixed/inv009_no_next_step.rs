// INV-009: add the next step
use omen::*;

fn agent(options: [Choice; 2], gaps: [Gap; 1], next_step: Recommendation) {
    let trigger = EscalationTrigger::ContradictionUnresolved;
    let _ = Escalation { trigger, options, gaps, next_step };
}

fn main() {}
