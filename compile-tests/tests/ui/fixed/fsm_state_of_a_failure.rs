// FSM: reach the state with a move
use omen::*;

fn agent(failed: Failed<Execute, String>) -> Episode<Review> {
    failed.episode.review(Belief::new("db", "pool.max", "unknown"))
}

fn main() {}
