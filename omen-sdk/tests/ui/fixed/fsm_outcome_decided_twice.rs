// FSM: the decision that rests is replaced by a verification loop
use omen::prelude::*;

fn agent(episode: Episode<Decide<Act>>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.verify_first(ruling, envelope);
}

fn main() {}
