// FSM: a decision while a directive is open -> E0277
use omen::*;

fn agent(
    episode: Episode<Open<Execute, 1>>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    let _ = episode.act(order, envelope);
}

fn main() {}
