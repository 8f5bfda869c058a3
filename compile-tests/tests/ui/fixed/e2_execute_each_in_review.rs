// E2: call the tools before the review
use omen::prelude::*;

fn agent(episode: Episode<Decide<Act>>, reads: [Order<ReadOnly>; 2]) -> Result<Episode<Review>, Halt> {
    let (episode, _rates) = episode.execute_each(reads, |_task| Ok::<_, String>(50))?;
    Ok(episode.review(Belief::new("web", "error_rate", omen::number!(0.02))))
}

fn main() {}
