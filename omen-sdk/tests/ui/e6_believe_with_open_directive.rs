// E6: a belief update that leaves a directive behind -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
