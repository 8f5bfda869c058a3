//! An agent that only reads.

use omen::Json;

use super::*;

tool!(MetricsQuery = "metrics.query", Read);

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::low(
        Intent::new(text!("find out how many requests fail"), text!("service web")),
        Done::when(text!("the error rate is known"), ["error_rate is a number"]),
        Evidence::user_observation(text!("chat/4711"), now.into()),
    )
    .seal();
    let query = Directive::new(MetricsQuery, op::Read, fields!({ "metric": "http_errors" })).ready();
    let (episode, rate) = Setup::new("corr_reads".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::user_input(Observed, fields!({ "ask": "how many requests fail?" })))
        .believe(Belief::new("web", "error_rate", ()))
        .act(ruling("query")?.to_act(), &envelope)?
        .execute_with(query, |_task| Ok::<_, String>(0.02))?;
    let closed = episode.review(Belief::revision("web", "error_rate", (), Json::number(rate)?)).close()?;
    Ok(closed.lines().to_vec())
}
