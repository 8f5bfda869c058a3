//! An agent that writes several times under one token, and continues if one write fails.

use super::*;

tool!(DnsSet = "dns.set", Write);
scope!(ThreeRecords: tools [DnsSet], operations [Write]);

fn set(name: &str, permit: Permit<ThreeRecords>) -> Order<ReadWrite> {
    Directive::new(DnsSet, op::Write, fields!({ "name": name })).with(permit)
}

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::medium(
        Intent::new(text!("move three records to the new host"), text!("zone example.org")),
        Done::when(text!("all records point to the new host"), ["www", "mail", "ftp"]),
        Evidence::user_observation(text!("change 13"), now.into()),
    )
    .seal();
    let (episode, [www, mail, ftp]) = Setup::new("corr_writes-several".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::user_input(Observed, fields!({ "ask": "move the zone" })))
        .believe(Belief::new("dns", "moved", 0))
        .act(ruling("move")?.to_act(), &envelope)?
        .authorize::<ThreeRecords, 3>(TokenSpec::new(60, text!("change 13")))?;
    let mut calls = 0;
    let orders = [set("www", www), set("mail", mail), set("ftp", ftp)];
    let (episode, results) = episode.execute_each(orders, |_task| {
        calls += 1;
        if calls == 2 { Err("the server is busy") } else { Ok(true) }
    })?;
    let moved = results.iter().filter(|result| result.is_ok()).count();
    Ok(episode.review(Belief::revision("dns", "moved", 0, moved)).close()?.lines().to_vec())
}
