// E6: a task that was not called is put back, and may be begun again
use omen::*;

fn agent(running: Running) {
    let _ = running.not_called().start();
}

fn main() {}
