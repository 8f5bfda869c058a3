// INV-010: verifying first in an envelope whose facts are known at run time only -> E0277
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &DynEnvelope) {
    let _ = episode.verify_first(ruling, envelope);
}

fn main() {}
