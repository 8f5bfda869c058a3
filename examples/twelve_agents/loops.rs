//! An agent that loops over all tickets.

use super::*;

tool!(TicketList = "ticket.list", Read);
tool!(TicketGet = "ticket.get", Read);

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::low(
        Intent::new(text!("find out which tickets are urgent"), text!("queue OPS")),
        Done::when(text!("each ticket was read"), ["read == open"]),
        Evidence::user_observation(text!("chat/13"), now.into()),
    )
    .seal();
    let list = Directive::bare(TicketList, op::Read).ready();
    let (mut episode, tickets) = Setup::new("corr_loops".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::user_input(Observed, fields!({ "ask": "what is urgent?" })))
        .believe(Belief::new("queue", "urgent", ()))
        .act(ruling("read them")?.to_act(), &envelope)?
        .execute_with(list, |_task| Ok::<_, String>(vec!["OPS-1", "OPS-2", "OPS-3"]))?;
    let mut urgent = Vec::new();
    for ticket in tickets {
        let get = Directive::new(TicketGet, op::Read, fields!({ "id": ticket })).ready();
        let (next, is_urgent) = episode.execute_with(get, |_task| Ok::<_, String>(ticket.ends_with('2')))?;
        urgent.extend(is_urgent.then_some(ticket));
        episode = next;
    }
    Ok(episode.review(Belief::revision("queue", "urgent", (), Json::of(&urgent)?)).close()?.lines().to_vec())
}
