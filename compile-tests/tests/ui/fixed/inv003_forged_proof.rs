// INV-003: take the proof from the loop
use omen::*;

fn agent(episode: Episode<Verify<Proven, Seen, ToolsOk>>) -> Proof {
    episode.believe(Belief::new("db", "pool.max", 50)).1
}

fn main() {}
