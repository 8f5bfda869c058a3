// FSM: a move that the bound of the state says nothing of -> E0277
use omen::*;

fn stop<S: CanObserve>(episode: Episode<S>, why: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.cancel(why, envelope);
}

fn main() {}
