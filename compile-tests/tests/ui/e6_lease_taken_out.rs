// E6: access to the leases of a task -> E0616
use omen::prelude::*;

fn agent(task: Pending) {
    let _ = task.leases;
}

fn main() {}
