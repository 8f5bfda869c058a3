// INV-008: the belief update that closes a loop gives it
use omen::*;

fn agent(episode: Episode<Verify<Proven, Seen, ToolsOk>>) -> Proof {
    let (_episode, proof) = episode.believe(Belief::new("db", "pool.max", 50));
    proof
}

fn main() {}
