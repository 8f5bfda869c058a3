// E6: their results lead on
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, tasks: [Pending; 2]) {
    let _ = episode.settle(tasks.map(|task| task.success(50)));
}

fn main() {}
