// FSM: the state after a failure is asserted -> E0308
use omen::*;

fn agent(failed: Failed<Execute, String>) -> Failed<Review, String> {
    Failed { episode: failed.episode, error: failed.error }
}

fn main() {}
