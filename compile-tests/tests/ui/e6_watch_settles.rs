// E6: a task settled through its watch -> E0599
use omen::*;

fn agent(watch: &Watch) -> Settled {
    watch.success(50)
}

fn main() {}
