// FSM: a token without a decision to act -> E0277
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Review>, spec: TokenSpec) {
    let _ = episode.authorize::<Deploy, 1>(spec);
}

fn main() {}
