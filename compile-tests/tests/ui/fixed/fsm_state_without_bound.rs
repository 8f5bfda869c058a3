// FSM: add the bound `CanObserve`
use omen::*;

fn look<S: CanObserve>(episode: Episode<S>, seen: Observation<Observed>) -> Episode<S::Observed> {
    episode.observe(seen)
}

fn main() {}
