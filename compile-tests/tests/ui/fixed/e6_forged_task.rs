// E6: take the task from the episode
use omen::*;

fn agent(episode: &Episode<Many<Execute>>) -> Vec<Pending> {
    episode.tasks()
}

fn main() {}
