// E3: repeat the check
use omen::*;

fn agent(failed: Failed<Verify<Attempted, Seen, ToolsOk>, String>, read: Order<ReadOnly>) -> Result<Proof, Halt> {
    let (episode, value) = failed.episode.check_with(read, |_task| Ok::<_, String>(50))?;
    Ok(episode.believe(Belief::new("db", "pool.max", value)).1)
}

fn main() {}
