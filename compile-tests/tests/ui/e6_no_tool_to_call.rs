// E6: calling a tool for no directive -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Execute>) {
    let _ = episode.execute_each::<ReadOnly, i32, String, 0>([], |_task| Ok(50));
}

fn main() {}
