// E7: one order of layer 1 for a budget override and the end of safe mode -> E0382
use omen::*;

fn agent(episode: Episode<SafeMode>, order: Layer1Order) -> Episode<Review> {
    let episode = episode.alert(Alert::budget_override(order));
    episode.clear(order)
}

fn main() {}
