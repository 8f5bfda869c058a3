// E6: a task is settled by who only watches it -> E0599
use omen::*;

fn agent(watch: &Watch) -> Settled {
    watch.success(50)
}

fn main() {}
