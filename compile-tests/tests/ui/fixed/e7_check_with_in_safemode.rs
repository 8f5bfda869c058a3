// E7: clear safe mode with an order of layer 1 first
use omen::*;

fn agent(episode: Episode<SafeMode>, order: Layer1Order) -> Result<Closed, Halt> {
    Ok(episode.clear(order).close()?)
}

fn main() {}
