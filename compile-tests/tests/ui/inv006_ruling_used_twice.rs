// INV-006: two decisions on one arbitration -> E0382
use omen::prelude::*;

fn agent(ruling: Ruling) {
    let _ = (ruling.to_act(), ruling.to_act());
}

fn main() {}
