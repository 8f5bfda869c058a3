// E6: the record of what may run is taken out of a task -> E0616
use omen::prelude::*;

fn agent(task: Pending) {
    let _ = task.leases;
}

fn main() {}
