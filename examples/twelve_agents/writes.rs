//! An agent that writes once, under a token.

use super::*;

tool!(DnsSet = "dns.set", Write);
scope!(OneRecord: tools [DnsSet], operations [Write]);

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::medium(
        Intent::new(text!("move www to the new host"), text!("zone example.org")),
        Done::when(text!("the record points to the new host"), ["www == 192.0.2.7"]),
        Evidence::user_observation(text!("change 12"), now.into()),
    )
    .seal();
    let (episode, [permit]) = Setup::new("corr_writes".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::user_input(Observed, fields!({ "ask": "move www" })))
        .believe(Belief::new("dns", "www", "192.0.2.1"))
        .act(ruling("move")?.to_act(), &envelope)?
        .authorize::<OneRecord, 1>(TokenSpec::new(60, text!("change 12")))?;
    let write = Directive::new(DnsSet, op::Write, fields!({ "name": "www", "value": "192.0.2.7" })).with(permit);
    let (episode, set) = episode.execute_with(write, |_task| Ok::<_, String>("192.0.2.7"))?;
    Ok(episode.review(Belief::revision("dns", "www", "192.0.2.1", set)).close()?.lines().to_vec())
}
