// FSM: a state as a trait object -> E0038
use omen::*;

fn agent(_state: Box<dyn Typestate>) {}

fn main() {}
