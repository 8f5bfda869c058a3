// FSM: call the helper in a state that can observe
use omen::*;

fn look<S: CanObserve>(episode: Episode<S>, seen: Observation<Observed>) -> AnyEpisode {
    episode.observe(seen).into_any()
}

fn agent(episode: Episode<Review>, seen: Observation<Observed>) {
    let _ = look(episode, seen);
}

fn main() {}
