// E3: complete the loop and decide to act first
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(
    episode: Episode<Verify<Proven, Seen, ToolsOk>>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    spec: TokenSpec,
) -> Result<(), Halt> {
    let (episode, _proof) = episode.believe(Belief::new("db", "pool.max", 50));
    let episode = episode.act(order, envelope)?;
    let _ = episode.authorize::<Deploy, 1>(spec)?;
    Ok(())
}

fn main() {}
