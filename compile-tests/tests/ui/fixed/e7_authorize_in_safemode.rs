// E7: clear safe mode with an order of layer 1, then begin a new cycle
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(
    episode: Episode<SafeMode>,
    permission: Layer1Order,
    seen: Observation<Observed>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    spec: TokenSpec,
) -> Result<(), Halt> {
    let episode = episode.clear(permission).observe(seen).believe(Belief::new("db", "pool.max", 50));
    let _ = episode.act(order, envelope)?.authorize::<Deploy, 1>(spec)?;
    Ok(())
}

fn main() {}
