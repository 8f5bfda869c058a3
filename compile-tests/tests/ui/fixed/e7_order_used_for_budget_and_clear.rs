// E7: use one order for each
use omen::*;

fn agent(episode: Episode<SafeMode>, [budget, clear]: [Layer1Order; 2]) -> Episode<Review> {
    let episode = episode.alert(Alert::budget_override(budget));
    episode.clear(clear)
}

fn main() {}
