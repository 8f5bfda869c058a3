// INV-011: an unused result -> unused_must_use
#![deny(unused_must_use)]
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, task: Pending) {
    task.success(1);
    let _ = episode;
}

fn main() {}
