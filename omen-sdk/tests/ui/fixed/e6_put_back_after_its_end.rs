// E6: it is put back, and has no end
use omen::*;

fn agent(running: Running) -> Pending {
    running.not_called()
}

fn main() {}
