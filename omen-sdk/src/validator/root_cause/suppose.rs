//! Assumed packets, which are missing in the log but may have been sent.

use std::borrow::Cow;
use std::sync::LazyLock;

use omen_fsm::{Event, Machine};
use omen_invariants::ledger::OpenDirective;
use omen_types::{Instant, OperationType, PacketFacts, PacketType, PayloadFacts, ResultStatus};

use super::repair;

/// Returns assumed packets that cause an event before `next`, with the ids that `next` refers to. `id` is the id of the
/// packet, if known.
pub(super) fn packets<'t>(
    event: Event,
    machine: &Machine,
    next: &PacketFacts<'t>,
    id: Option<&str>,
    line: u64,
) -> Vec<PacketFacts<'t>> {
    let Some(mut facts) = template(event) else { return Vec::new() };
    facts.header.created_at = next.header.created_at;
    let known = id.map(|id| Cow::Owned(id.to_owned()));
    facts.header.packet_id = known.or_else(|| missing(machine, next)).unwrap_or_else(|| unknown(line));
    facts.mcp = next.mcp.clone();
    match (&mut facts.payload, &next.payload) {
        (PayloadFacts::ToolAuthorizationToken(token), PayloadFacts::TaskDirective(directive)) => {
            if let Some(id) = &directive.authorization_token_id {
                token.token_id = id.clone();
            }
            token.authorized_scope.tool_ids = directive.execution_method.tool_id.iter().cloned().collect();
            token.authorized_scope.operation_types = OperationType::ALL.to_vec();
            token.expiry = Instant::from_unix(FAR, 0);
        }
        (PayloadFacts::TaskDirective(directive), PayloadFacts::TaskResult(result)) => {
            if id.is_some_and(|id| *id != *result.directive_packet_id) {
                return Vec::new();
            }
            directive.task_id = result.task_id.clone();
            facts.header.packet_id = result.directive_packet_id.clone();
        }
        // Without a result, the task is unknown.
        (PayloadFacts::TaskDirective(_), _) => return Vec::new(),
        (PayloadFacts::TaskResult(_), _) => return results(machine, &facts),
        _ => {}
    }
    vec![facts]
}

/// Returns a result for each open directive, up to a maximum number.
fn results<'t>(machine: &Machine, template: &PacketFacts<'t>) -> Vec<PacketFacts<'t>> {
    let mut template = template.clone();
    if let PayloadFacts::TaskResult(result) = &mut template.payload {
        result.result_status = ResultStatus::Success;
    }
    open(machine).into_iter().take(MOST_OPEN).map(|open| result_of(open, &template)).collect()
}

/// Returns the result of a directive, independently of what the log states.
pub(super) fn result<'t>(directive: &OpenDirective, next: &PacketFacts<'t>, line: u64) -> Option<PacketFacts<'t>> {
    let mut facts = template(Event::Settle)?;
    facts.header.created_at = next.header.created_at;
    facts.header.packet_id = Cow::Owned(format!("result at line {line}"));
    Some(result_of(directive, &facts))
}

fn result_of<'t>(directive: &OpenDirective, template: &PacketFacts<'t>) -> PacketFacts<'t> {
    let mut facts = template.clone();
    if let PayloadFacts::TaskResult(result) = &mut facts.payload {
        result.directive_packet_id = Cow::Owned(directive.packet_id.to_string());
        result.task_id = Cow::Owned(directive.task_id.to_string());
    }
    facts
}

/// Returns the open directives in sending order; empty if there are too many to try each.
fn open(machine: &Machine) -> Vec<&OpenDirective> {
    let open = machine.ledger().open();
    if open.len() > FEW_OPEN { Vec::new() } else { open.in_order() }
}

/// Returns what a packet with a wrong id may have been meant to be: the same packet with ids that exist in the episode.
pub(super) fn corrected<'t>(machine: &Machine, facts: &PacketFacts<'t>) -> Vec<PacketFacts<'t>> {
    let PayloadFacts::TaskResult(result) = &facts.payload else { return Vec::new() };
    let mut open = open(machine);
    let names =
        |open: &&OpenDirective| *open.task_id == *result.task_id || *open.packet_id == *result.directive_packet_id;
    // Either one of the two ids is right, or neither is.
    if open.iter().any(&names) {
        open.retain(|open| names(open));
    }
    open.into_iter().take(MOST_OPEN).map(|open| result_of(open, facts)).collect()
}

/// Returns a packet id that `next` refers to but that was not accepted.
fn missing<'t>(machine: &Machine, next: &PacketFacts<'t>) -> Option<Cow<'t, str>> {
    let ledger = machine.ledger();
    let mut named: Vec<&Cow<'t, str>> = Vec::new();
    match &next.payload {
        PayloadFacts::BeliefUpdate(belief) => named.extend(belief.evidence_integration.iter().flatten()),
        PayloadFacts::Decision(decision) => {
            let assumptions = decision.load_bearing_assumptions.iter().flatten();
            named.extend(assumptions.filter_map(|assumption| assumption.verification_packet_id.as_ref()));
        }
        _ => {}
    }
    named.extend(&next.header.previous_packet_id);
    named.into_iter().find(|id| !id.is_empty() && !ledger.has_accepted(id)).cloned()
}

/// Returns an id for an assumed packet that nothing refers to. Ids in a log contain no spaces, so it is unique.
pub(super) fn unknown<'t>(line: u64) -> Cow<'t, str> {
    Cow::Owned(format!("line {line}"))
}

/// Time later than any packet: the year 9999.
pub(super) const FAR: i64 = 253_402_300_000;

/// Maximum number of open directives that are tried.
const MOST_OPEN: usize = 3;

/// Number of open directives above which none are tried.
const FEW_OPEN: usize = 24;

/// Returns a packet for an event, with only invented values.
fn template(event: Event) -> Option<PacketFacts<'static>> {
    static TEMPLATES: LazyLock<Vec<(Event, PacketFacts<'static>)>> = LazyLock::new(templates);
    TEMPLATES.iter().find(|(known, _)| *known == event).map(|(_, facts)| facts.clone())
}

/// Returns a packet for each event. The texts take some kilobytes and live as long as the program.
fn templates() -> Vec<(Event, PacketFacts<'static>)> {
    let mut templates: Vec<(Event, PacketFacts<'static>)> = Vec::new();
    for packet in PacketType::ALL.iter().flat_map(|packet_type| repair::invented(*packet_type)) {
        let is_known = PacketFacts::parse(&packet.text).is_ok_and(|facts| {
            let event = Event::of(&facts);
            templates.iter().any(|(known, _)| *known == event)
        });
        if !is_known && let Ok(facts) = PacketFacts::parse(packet.text.leak()) {
            templates.push((Event::of(&facts), facts));
        }
    }
    templates
}

#[cfg(test)]
mod tests {
    use omen_fsm::Event;

    use super::template;

    #[test]
    fn every_event_of_a_packet_has_a_template() {
        for event in Event::ALL {
            let made = template(*event).map(|facts| Event::of(&facts));
            assert_eq!(made, event.packet_type().map(|_| *event));
        }
    }
}
