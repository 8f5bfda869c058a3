// E4: a list where an array of orders is due -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Execute>, orders: Vec<Order<ReadOnly>>) {
    let _ = episode.execute(orders);
}

fn main() {}
