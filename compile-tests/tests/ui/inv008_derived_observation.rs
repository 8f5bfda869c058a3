// INV-008: a derived observation as evidence of a loop -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Proven, Unseen, ToolsOk>>, data: Fields) {
    let calculated = Observation::tool_output(Derived, "config.get", data);
    let _ = episode.observe(calculated).believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
