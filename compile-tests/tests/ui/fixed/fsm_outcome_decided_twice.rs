// FSM: replace the decision by a verification loop
use omen::prelude::*;

fn agent(episode: Episode<Decide<Act>>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.verify_first(ruling, envelope);
}

fn main() {}
