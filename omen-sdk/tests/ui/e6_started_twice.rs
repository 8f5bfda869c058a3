// E6: a task is begun a second time -> E0507
use omen::prelude::*;

fn agent(running: Running) {
    let _ = running.start();
}

fn main() {}
