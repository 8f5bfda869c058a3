// FSM: a state defined by the program -> E0277
use omen::*;

struct Dreaming;

impl Typestate for Dreaming {
    const NAME: &'static str = "Dreaming";
    const NODES: &'static [omen_fsm::Node] = &[];
    const OPEN: bool = false;
}

fn main() {}
