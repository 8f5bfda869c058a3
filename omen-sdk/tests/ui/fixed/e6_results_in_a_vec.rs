// E6: the results are counted at run time
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, results: Vec<Settled>) -> Result<Episode<Execute>, Halt> {
    Ok(episode.many().settle(results)?.all_settled()?)
}

fn main() {}
