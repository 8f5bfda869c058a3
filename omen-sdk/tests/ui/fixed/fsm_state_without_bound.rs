// FSM: the state is one in which observing is legal
use omen::*;

fn look<S: CanObserve>(episode: Episode<S>, seen: Observation<Observed>) -> Episode<S::Observed> {
    episode.observe(seen)
}

fn main() {}
