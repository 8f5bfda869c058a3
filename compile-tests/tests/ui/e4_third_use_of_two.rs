// E4: three permits from a token for two uses -> E0527
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Decide<Act>>, spec: TokenSpec) -> Result<(), Halt> {
    let (_episode, [_one, _two, _three]) = episode.authorize::<Deploy, 2>(spec)?;
    Ok(())
}

fn main() {}
