// E3: a loop closed after its tool failed -> E0277
use omen::*;

fn agent(failed: Failed<Verify<Attempted, Seen, ToolsOk>, String>) {
    let _ = failed.episode.believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
