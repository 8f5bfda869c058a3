// INV-009: an escalation that recommends nothing -> E0063
use omen::*;

fn agent(options: [Choice; 2], gaps: [Gap; 1]) {
    let trigger = EscalationTrigger::ContradictionUnresolved;
    let _ = Escalation { trigger, options, gaps };
}

fn main() {}
