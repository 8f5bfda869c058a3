// E7: layer 1 clears safe mode, and nothing is written
use omen::*;

fn agent(episode: Episode<SafeMode>, order: Layer1Order) -> Episode<Review> {
    episode.clear(order)
}

fn main() {}
