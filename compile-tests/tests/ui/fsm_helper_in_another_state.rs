// FSM: a helper called in another state -> E0277
use omen::*;

fn look<S: CanObserve>(episode: Episode<S>, seen: Observation<Observed>) -> AnyEpisode {
    episode.observe(seen).into_any()
}

fn agent(episode: Episode<Model>, seen: Observation<Observed>) {
    let _ = look(episode, seen);
}

fn main() {}
