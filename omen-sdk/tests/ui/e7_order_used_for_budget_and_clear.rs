// E7: an order that has raised a budget clears safe mode -> E0382
use omen::*;

fn agent(episode: Episode<SafeMode>, order: Layer1Order) -> Episode<Review> {
    let episode = episode.alert(Alert::budget_override(order));
    episode.clear(order)
}

fn main() {}
