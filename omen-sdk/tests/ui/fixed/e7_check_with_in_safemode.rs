// E7: layer 1 clears safe mode first
use omen::*;

fn agent(episode: Episode<SafeMode>, order: Layer1Order) -> Result<Closed, Halt> {
    Ok(episode.clear(order).close()?)
}

fn main() {}
