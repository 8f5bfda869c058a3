// FSM: who needs to know of it borrows it
use omen::prelude::*;

fn agent(closed: &Closed) -> [&Closed; 2] {
    [closed, closed]
}

fn main() {}
