// INV-006: decide another outcome
use omen::prelude::*;

fn agent(episode: Episode<Model>, envelope: &Envelope<LowStakes, Par, ToolsOk>, none: NothingLeft) {
    let ruling = none.instead(Tradeoff::SafetyFirst, &text!("all were struck out"));
    let _ = episode.defer(ruling, envelope);
}

fn main() {}
