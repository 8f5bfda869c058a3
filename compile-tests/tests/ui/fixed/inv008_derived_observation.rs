// INV-008: observe it
use omen::*;

fn agent(episode: Episode<Verify<Proven, Unseen, ToolsOk>>, data: Fields) {
    let seen = Observation::tool_output(Observed, "config.get", data);
    let _ = episode.observe(seen).believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
