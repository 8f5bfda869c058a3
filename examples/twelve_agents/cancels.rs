//! An agent that cancels work that is no longer needed.

use super::*;

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::low(
        Intent::new(text!("warm the cache"), text!("service web")),
        Done::when(text!("the cache is warm"), ["hit_rate > 0.9"]),
        Evidence::tool_output(text!("cache.stats#7"), now.into()),
    )
    .seal();
    let closed = Setup::new("corr_cancels".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::tool_output(Observed, "cache.stats", fields!({ "hit_rate": 0.97 })))
        .believe(Belief::new("cache", "is_warm", true))
        .cancel(ruling("leave it")?, &envelope)
        .believe(Belief::new("cache", "warmed", false))
        .close()?;
    Ok(closed.lines().to_vec())
}
