// INV-003: acting in an envelope whose facts are known only at run time -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, envelope: &DynEnvelope) {
    let _ = episode.act(order, envelope);
}

fn main() {}
