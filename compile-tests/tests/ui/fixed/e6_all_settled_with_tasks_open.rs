// E6: settle the directives first
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, tasks: [Pending; 2]) {
    let _ = episode.settle(tasks.map(|task| task.success(50)));
}

fn main() {}
