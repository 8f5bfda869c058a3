// INV-008: take the proof from the belief update that closes the loop
use omen::*;

fn agent(episode: Episode<Verify<Proven, Seen, ToolsOk>>) -> Proof {
    let (_episode, proof) = episode.believe(Belief::new("db", "pool.max", 50));
    proof
}

fn main() {}
