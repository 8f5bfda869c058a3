// E7: ending safe mode with a reason instead of an order -> E0277
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>) {
    let _ = episode.clear(text!("it looks fine"));
}

fn main() {}
