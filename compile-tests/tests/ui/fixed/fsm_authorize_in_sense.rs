// FSM: decide first
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(
    episode: Episode<Sense>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    spec: TokenSpec,
) -> Result<(), Halt> {
    let episode = episode.believe(Belief::new("db", "pool.max", 50)).act(order, envelope)?;
    let _ = episode.authorize::<Deploy, 1>(spec)?;
    Ok(())
}

fn main() {}
