// E6: its result is settled
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, running: Running) {
    let _ = episode.settle([running.success(50)]);
}

fn main() {}
