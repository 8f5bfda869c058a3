// INV-009: an escalation without a next step -> E0063
use omen::*;

fn agent(options: [Choice; 2], gaps: [Gap; 1]) {
    let trigger = EscalationTrigger::ContradictionUnresolved;
    let _ = Escalation { trigger, options, gaps };
}

fn main() {}
