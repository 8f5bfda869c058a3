// E6: `all_settled` while directives are open -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>) {
    let _ = episode.all_settled();
}

fn main() {}
