// E3: a loop is closed though its tool has failed -> E0277
use omen::*;

fn agent(failed: Failed<Verify<Attempted, Seen, ToolsOk>, String>) {
    let _ = failed.episode.believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
