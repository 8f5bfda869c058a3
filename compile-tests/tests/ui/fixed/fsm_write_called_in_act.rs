// FSM: issue a token first
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Decide<Act>>, set: Directive<ConfigSet, op::Modify>) -> Result<(), Halt> {
    let (episode, [permit]) = episode.authorize::<Deploy, 1>(TokenSpec::new(60, text!("ticket OPS-77")))?;
    let _ = episode.execute_with(set.with(permit), |_task| Ok::<_, String>(80))?;
    Ok(())
}

fn main() {}
