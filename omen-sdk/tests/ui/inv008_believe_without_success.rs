// INV-008: a loop that is closed though no check has succeeded -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Attempted, Seen, ToolsOk>>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
