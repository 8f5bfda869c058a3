// E7: an end of safe mode for a good reason -> E0277
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>) {
    let _ = episode.clear(text!("it looks fine"));
}

fn main() {}
