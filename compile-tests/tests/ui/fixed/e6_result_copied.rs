// E6: settle two tasks
use omen::prelude::*;

fn agent([one, other]: [Pending; 2]) -> [Settled; 2] {
    [one.success(50), other.cancelled()]
}

fn main() {}
