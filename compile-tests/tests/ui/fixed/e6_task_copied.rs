// E6: send two directives
use omen::prelude::*;

fn agent(episode: Episode<Execute>, reads: [Order<ReadOnly>; 2]) -> Option<[Pending; 2]> {
    Some(episode.execute(reads).ok()?.1)
}

fn main() {}
