// E6: a task begun twice -> E0507
use omen::*;

fn agent(running: Running) {
    let _ = running.start();
}

fn main() {}
