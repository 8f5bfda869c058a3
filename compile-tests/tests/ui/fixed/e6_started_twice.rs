// E6: put the task back if its tool was not called
use omen::*;

fn agent(running: Running) {
    let _ = running.not_called().start();
}

fn main() {}
