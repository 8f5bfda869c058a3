// INV-003: the loop gives it
use omen::*;

fn agent(episode: Episode<Verify<Proven, Seen, ToolsOk>>) -> Proof {
    episode.believe(Belief::new("db", "pool.max", 50)).1
}

fn main() {}
