// INV-001: an envelope of a level says nothing of when the work is done -> E0277
use omen::*;

fn agent(done: Text) -> Done {
    Done::when(done, [])
}

fn main() {}
