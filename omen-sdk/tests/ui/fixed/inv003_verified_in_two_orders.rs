// INV-003: each assumption is verified for itself
use omen::*;

fn agent([one, two]: [Ruling; 2], [first, second]: [Verified; 2]) {
    let _ = (one.to_act().relies_on(first), two.to_act().relies_on(second));
}

fn main() {}
