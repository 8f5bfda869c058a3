// E3: closing an episode in a verification loop -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Proven, Seen, ToolsOk>>) {
    let _ = episode.close();
}

fn main() {}
