// E4: a `Vec` given instead of an array of orders -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Execute>, orders: Vec<Order<ReadOnly>>) {
    let _ = episode.execute(orders);
}

fn main() {}
