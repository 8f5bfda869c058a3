// FSM: authorize after the decision to act
use omen::*;

fn agent(episode: Episode<Decide<Act>>, scope: NamedScope, spec: TokenSpec) {
    let _ = episode.authorize_named(scope, spec);
}

fn main() {}
