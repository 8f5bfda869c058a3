// E4: a token for 0 uses -> E0277
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Decide<Act>>, spec: TokenSpec) {
    let _ = episode.authorize::<Deploy, 0>(spec);
}

fn main() {}
