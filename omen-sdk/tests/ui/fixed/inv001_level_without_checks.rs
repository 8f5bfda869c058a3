// INV-001: it is done when a check holds
use omen::*;

fn agent(done: Text) -> Done {
    Done::when(done, ["pool.max == 80"])
}

fn main() {}
