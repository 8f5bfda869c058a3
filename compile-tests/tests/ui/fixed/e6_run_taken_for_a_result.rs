// E6: settle the task with its result
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, running: Running) {
    let _ = episode.settle([running.success(50)]);
}

fn main() {}
