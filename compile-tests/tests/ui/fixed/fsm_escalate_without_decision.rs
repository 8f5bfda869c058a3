// FSM: decide first
use omen::prelude::*;

fn agent(
    episode: Episode<Model>,
    ruling: Ruling,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    escalation: Escalation<2, 1>,
) {
    let _ = episode.to_escalate(ruling, envelope).escalate(escalation);
}

fn main() {}
