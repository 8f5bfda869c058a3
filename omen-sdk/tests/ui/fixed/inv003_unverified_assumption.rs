// INV-003: the order relies on what a verification loop has proved
use omen::*;

fn agent(
    episode: Episode<Model>,
    ruling: Ruling,
    envelope: &Envelope<CriticalStakes, Superb, ToolsOk>,
    verified: Verified,
) {
    let _ = episode.act(ruling.to_act().relies_on(verified), envelope);
}

fn main() {}
