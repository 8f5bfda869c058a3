// INV-011: a result that does not reach the log -> unused_must_use
#![deny(unused_must_use)]
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, task: Pending) {
    task.success(1);
    let _ = episode;
}

fn main() {}
