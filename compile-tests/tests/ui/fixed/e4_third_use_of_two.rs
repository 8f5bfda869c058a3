// E4: issue a token for three uses
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Decide<Act>>, spec: TokenSpec) -> Result<(), Halt> {
    let (_episode, [_one, _two, _three]) = episode.authorize::<Deploy, 3>(spec)?;
    Ok(())
}

fn main() {}
