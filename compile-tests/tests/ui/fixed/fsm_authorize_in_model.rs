// FSM: decide first
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(
    episode: Episode<Model>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    spec: TokenSpec,
) -> Result<(), Halt> {
    let episode = episode.act(order, envelope)?;
    let _ = episode.authorize::<Deploy, 1>(spec)?;
    Ok(())
}

fn main() {}
