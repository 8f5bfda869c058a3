// INV-006: a ruling used after a refused decision -> E0382
use omen::*;

fn agent(
    [one, other]: [Episode<Model>; 2],
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    if one.act(order, envelope).is_err() {
        let _ = other.act(order, envelope);
    }
}

fn main() {}
