// INV-006: a decision without an arbitration -> E0308
use omen::prelude::*;

fn agent(episode: Episode<Model>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.defer("later", envelope);
}

fn main() {}
