// INV-001: add done criteria
use omen::*;

fn agent(done: Text) -> Done {
    Done::when(done, ["pool.max == 80"])
}

fn main() {}
