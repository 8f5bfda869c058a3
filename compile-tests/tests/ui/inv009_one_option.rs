// INV-009: an escalation with one option -> E0277
use omen::*;

fn agent(episode: Episode<Decide<Escalate>>, only: Choice, gap: Gap, next_step: Recommendation) {
    let trigger = EscalationTrigger::ContradictionUnresolved;
    let _ = episode.escalate(Escalation { trigger, options: [only], gaps: [gap], next_step });
}

fn main() {}
