// E7: clear safe mode with an order of layer 1, then close
use omen::*;

fn agent(episode: Episode<SafeMode>, order: Layer1Order) -> Episode<Review> {
    episode.clear(order)
}

fn main() {}
