// FSM: issue a token first
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Decide<Act>>, spec: TokenSpec) -> Result<(), Halt> {
    let (episode, [permit]) = episode.authorize::<Deploy, 1>(spec)?;
    let _ = episode.execute([Directive::bare(ConfigSet, op::Modify).with(permit)])?;
    Ok(())
}

fn main() {}
