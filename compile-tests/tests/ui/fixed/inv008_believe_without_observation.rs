// INV-008: observe what the check has found
use omen::*;

fn agent(episode: Episode<Verify<Proven, Unseen, ToolsOk>>, seen: Observation<Observed>) {
    let _ = episode.observe(seen).believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
