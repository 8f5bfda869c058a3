// INV-003: verify each assumption
use omen::*;

fn agent([one, two]: [Ruling; 2], [first, second]: [Verified; 2]) {
    let _ = (one.to_act().relies_on(first), two.to_act().relies_on(second));
}

fn main() {}
