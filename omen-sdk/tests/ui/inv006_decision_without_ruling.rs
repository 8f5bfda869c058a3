// INV-006: a decision that nothing was weighed for -> E0308
use omen::prelude::*;

fn agent(episode: Episode<Model>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.defer("later", envelope);
}

fn main() {}
