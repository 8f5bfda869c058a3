//! An agent that verifies an assumption, then relies on it at HIGH stakes.

use super::*;

tool!(ConfigGet = "config.get", Read);

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::high(
        Intent::new(text!("tell whether the pool may be drained"), text!("database orders")),
        Done::when(text!("the answer is known"), ["pool.orders.in_use is a number"]),
        Evidence::user_observation(text!("ticket OPS-77"), now.into()),
    )
    .seal();
    let read = || Directive::new(ConfigGet, op::Read, fields!({ "key": "pool.orders.in_use" })).ready();
    let (plan, idle) = Plan::one(Target::tool(text!("nobody uses the pool"), text!("it reports 0"), ConfigGet));
    let (episode, in_use) = Setup::new("corr_verifies".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::user_input(Observed, fields!({ "ask": "may I drain `orders`?" })))
        .believe(Belief::new("db", "pool.orders.in_use", ()))
        .verify_first(ruling("look")?, &envelope)?
        .verify(plan)?
        .check_with(read(), |_task| Ok::<_, String>(0))?;
    let (episode, proof) = episode
        .observe(Observation::tool_output(Observed, "config.get", fields!({ "pool.orders.in_use": in_use })))
        .believe(Belief::revision("db", "pool.orders.in_use", (), in_use));
    let order = ruling("drain")?.to_act().relies_on(proof.verifies(idle));
    let (episode, _) = episode.act(order, &envelope)?.execute_with(read(), |_task| Ok::<_, String>(0))?;
    Ok(episode.review(Belief::new("db", "pool.orders.may_drain", true)).close()?.lines().to_vec())
}
