// E4: send the orders one by one
use omen::prelude::*;

fn agent(mut episode: Episode<Execute>, orders: Vec<Order<ReadOnly>>) -> Result<Episode<Execute>, Halt> {
    for order in orders {
        (episode, _) = episode.execute_with(order, |_task| Ok::<_, String>(true))?;
    }
    Ok(episode)
}

fn main() {}
