// E6: `remodel` while a directive is open -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>) {
    let _ = episode.remodel(Belief::new("db", "pool.max", 50));
}

fn main() {}
