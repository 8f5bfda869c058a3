// INV-008: a loop closed without a plan -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Unplanned, Unseen, ToolsOk>>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
