// E6: going on from directives that have no result -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>) {
    let _ = episode.all_settled();
}

fn main() {}
