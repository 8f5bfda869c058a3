// INV-003: use one order for each
use omen::*;

fn agent(first: ActOrder<AllVerified>, second: ActOrder<AllVerified>, [one, two]: [Layer1Order; 2]) {
    let _ = (first.layer1_override(one), second.layer1_override(two));
}

fn main() {}
