// INV-003: two overrides on one order of layer 1 -> E0382
use omen::*;

fn agent(first: ActOrder<AllVerified>, second: ActOrder<AllVerified>, permission: Layer1Order) {
    let _ = (first.layer1_override(permission), second.layer1_override(permission));
}

fn main() {}
