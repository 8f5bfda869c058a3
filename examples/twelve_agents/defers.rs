//! An agent that defers a decision.

use super::*;

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::medium(
        Intent::new(text!("renew the certificate"), text!("www.example.org")),
        Done::when(text!("the certificate is renewed"), ["days_left > 60"]),
        Evidence::tool_output(text!("tls.probe#1"), now.into()),
    )
    .seal();
    let closed = Setup::new("corr_defers".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::tool_output(Observed, "tls.probe", fields!({ "days_left": 58 })))
        .believe(Belief::new("tls", "days_left", 58))
        .defer(ruling("tomorrow")?, &envelope)
        .believe(Belief::new("tls", "next_look", "tomorrow"))
        .close()?;
    Ok(closed.lines().to_vec())
}
