// FSM: an episode used after a refused move -> E0382
use omen::*;

fn agent(
    episode: Episode<Model>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    if episode.act(order, envelope).is_err() {
        let _ = episode.halt(text!("refused"));
    }
}

fn main() {}
