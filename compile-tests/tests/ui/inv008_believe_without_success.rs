// INV-008: a loop closed without a successful check -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Attempted, Seen, ToolsOk>>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
