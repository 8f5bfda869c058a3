// E6: a task is begun a second time -> E0507
use omen::*;

fn agent(running: Running) {
    let _ = running.start();
}

fn main() {}
