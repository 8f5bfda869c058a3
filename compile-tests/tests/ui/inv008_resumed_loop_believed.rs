// INV-008: a resumed loop closed without `complete` -> E0277
use omen::*;

fn agent(episode: Episode<AnyLoop>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
