// E6: count the results at run time with `many`
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, results: Vec<Settled>) -> Result<Episode<Execute>, Halt> {
    Ok(episode.many().settle(results)?.all_settled()?)
}

fn main() {}
