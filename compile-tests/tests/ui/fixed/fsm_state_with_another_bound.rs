// FSM: use the bound of the move
use omen::*;

fn stop<S: CanCancel>(
    episode: Episode<S>,
    why: Ruling,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) -> Episode<S::Cancelled> {
    episode.cancel(why, envelope)
}

fn main() {}
