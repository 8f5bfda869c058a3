// INV-001: an envelope of a stakes level without done criteria -> E0277
use omen::*;

fn agent(done: Text) -> Done {
    Done::when(done, [])
}

fn main() {}
