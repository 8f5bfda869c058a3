// E3: the end of an episode that still verifies -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Proven, Seen, ToolsOk>>) {
    let _ = episode.close();
}

fn main() {}
