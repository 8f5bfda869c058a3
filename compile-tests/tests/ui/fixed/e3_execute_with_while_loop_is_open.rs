// E3: settle the open checks first
use omen::*;

fn agent(
    episode: Episode<Many<Verify<Attempted, Seen, ToolsOk>>>,
    results: Vec<Settled>,
    read: Order<ReadOnly>,
) -> Result<(), Box<dyn std::error::Error>> {
    let _ = episode.settle(results)?.all_settled()?.check_with(read, |_task| Ok::<_, String>(50))?;
    Ok(())
}

fn main() {}
