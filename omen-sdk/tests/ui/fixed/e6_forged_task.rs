// E6: the episode gives its tasks
use omen::*;

fn agent(episode: &Episode<Many<Execute>>) -> Vec<Pending> {
    episode.tasks()
}

fn main() {}
