// INV-003: make a new order without the assumption
use omen::*;

fn agent(ruling: Ruling) -> ActOrder<AllVerified> {
    ruling.to_act()
}

fn main() {}
