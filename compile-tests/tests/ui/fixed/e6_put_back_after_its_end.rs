// E6: put the task back instead of settling it
use omen::*;

fn agent(running: Running) -> Pending {
    running.not_called()
}

fn main() {}
