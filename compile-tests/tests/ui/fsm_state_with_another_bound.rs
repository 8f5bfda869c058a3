// FSM: a move that the bound on the state does not cover -> E0277
use omen::*;

fn stop<S: CanObserve>(episode: Episode<S>, why: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.cancel(why, envelope);
}

fn main() {}
