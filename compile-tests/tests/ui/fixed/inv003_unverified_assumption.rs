// INV-003: rely on an assumption that a loop has verified
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
