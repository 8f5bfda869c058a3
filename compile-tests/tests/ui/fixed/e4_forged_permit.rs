// E4: take the permit from a token
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Decide<Act>>, spec: TokenSpec) -> Result<Permit<Deploy>, Halt> {
    let (_episode, [permit]) = episode.authorize::<Deploy, 1>(spec)?;
    Ok(permit)
}

fn main() {}
