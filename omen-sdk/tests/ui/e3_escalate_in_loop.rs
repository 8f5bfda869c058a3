// E3: handing the matter over before the loop is completed -> E0277
use omen::*;

fn agent(
    episode: Episode<Verify<Attempted, Unseen, ToolsOk>>,
    ruling: Ruling,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    let _ = episode.to_escalate(ruling, envelope);
}

fn main() {}
