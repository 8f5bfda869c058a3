// INV-010: verifying first in an envelope whose facts are known only at run time -> E0277
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &DynEnvelope) {
    let _ = episode.verify_first(ruling, envelope);
}

fn main() {}
