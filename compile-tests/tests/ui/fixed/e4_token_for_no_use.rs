// E4: issue a token for one use
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Decide<Act>>, spec: TokenSpec) {
    let _ = episode.authorize::<Deploy, 1>(spec);
}

fn main() {}
