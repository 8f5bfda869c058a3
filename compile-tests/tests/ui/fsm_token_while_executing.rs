// FSM: a token while directives are carried out -> E0277
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Execute>, spec: TokenSpec) {
    let _ = episode.authorize::<Deploy, 1>(spec);
}

fn main() {}
