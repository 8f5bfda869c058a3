// E3: a token before the verification loop is complete -> E0277
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, spec: TokenSpec) {
    let _ = episode.authorize::<Deploy, 1>(spec);
}

fn main() {}
