// E6: the end of work with a directive open -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>) {
    let _ = episode.review(Belief::new("db", "pool.max", 50));
}

fn main() {}
