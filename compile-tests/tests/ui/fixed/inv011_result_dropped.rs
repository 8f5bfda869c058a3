// INV-011: settle the result
#![deny(unused_must_use)]
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, task: Pending) {
    let _ = episode.settle([task.success(1)]);
}

fn main() {}
