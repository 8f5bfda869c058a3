// E3: an escalation before the verification loop is complete -> E0277
use omen::*;

fn agent(
    episode: Episode<Verify<Attempted, Unseen, ToolsOk>>,
    ruling: Ruling,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    let _ = episode.to_escalate(ruling, envelope);
}

fn main() {}
