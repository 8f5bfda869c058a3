// FSM: a wrong state after a failure -> E0308
use omen::*;

fn agent(failed: Failed<Execute, String>) -> Failed<Review, String> {
    Failed { episode: failed.episode, error: failed.error }
}

fn main() {}
