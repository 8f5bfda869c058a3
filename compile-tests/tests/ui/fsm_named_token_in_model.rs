// FSM: a token named at run time without a decision to act -> E0277
use omen::*;

fn agent(episode: Episode<Model>, scope: NamedScope, spec: TokenSpec) {
    let _ = episode.authorize_named(scope, spec);
}

fn main() {}
