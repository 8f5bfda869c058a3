// INV-003: a new arbitration gives an order without
use omen::*;

fn agent(ruling: Ruling) -> ActOrder<AllVerified> {
    ruling.to_act()
}

fn main() {}
