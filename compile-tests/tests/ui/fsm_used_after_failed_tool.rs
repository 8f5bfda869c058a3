// FSM: an episode used after a failed tool -> E0382
use omen::prelude::*;

fn agent(episode: Episode<Execute>, read: Order<ReadOnly>) -> Episode<Review> {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50));
    episode.review(Belief::new("db", "pool.max", "unknown"))
}

fn main() {}
