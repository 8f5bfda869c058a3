//! Legal next moves, expressed in terms of tools.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use omen_fsm::Event;
use omen_types::packet::PacketType;
use serde_json::{Map, Value, json};

use super::catalog::OwnTool;

/// Possible next move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Move {
    event: Event,
    /// Description of the tool call.
    call: String,
    /// Tool of the episode, if the move uses one.
    own: Option<OwnTool>,
    /// Required values of its arguments.
    with: BTreeMap<String, Vec<String>>,
    about: Option<&'static str>,
}

impl Move {
    pub(super) fn line(&self) -> String {
        match self.about {
            Some(about) => format!("- {}: {about}", self.call),
            None => format!("- {}", self.call),
        }
    }

    fn json(&self) -> Value {
        json!({ "event": self.event.as_str(), "tool": self.own.map(OwnTool::name), "call": self.call, "with": self.with })
    }
}

pub(super) fn json(moves: &[Move]) -> Value {
    moves.iter().map(Move::json).collect()
}

/// Returns the possible next moves among those that the machine offers. `in_loop` says whether a verification loop is
/// running, in which a tool that reads needs the loop's plan.
pub(super) fn next(offers: &[Event], in_loop: bool) -> Vec<Move> {
    offers.iter().filter_map(|event| move_for(*event, offers, in_loop)).collect()
}

fn move_for(event: Event, offers: &[Event], in_loop: bool) -> Option<Move> {
    let is_offered = |event| offers.contains(&event);
    match event {
        // The answer comes from the human, and an observation is one whatever its type.
        Event::ObserveUser if is_offered(Event::Observe) => return None,
        // A call that writes is made with its own token, which is issued with it.
        Event::DirectWrite => return None,
        _ => {}
    }
    let mut call = tool(event).or_else(|| (event == Event::Authorize).then(|| WRITES.to_owned()))?;
    if event == Event::Observe && !in_loop && !is_offered(Event::DirectRead) && !is_offered(Event::Settle) {
        call = format!("{call}, or {READS}");
    }
    let own = match event {
        Event::ObserveUser => None,
        Event::Release => Some(OwnTool::Escalate),
        _ => event.packet_type().and_then(OwnTool::sending),
    };
    let with = if own == Some(OwnTool::Decide) { when(event) } else { BTreeMap::new() };
    let about = match event {
        Event::Authorize => Some(GRANTED),
        Event::Release => Some(RELEASES),
        _ => own.map(|_| event.description()),
    };
    Some(Move { event, call, own, with, about })
}

/// Returns how a model makes a move, as text; `None` if the proxy makes it.
pub(super) fn tool(event: Event) -> Option<String> {
    match event {
        Event::ObserveUser => Some(WAIT.to_owned()),
        Event::DirectRead => Some(READS.to_owned()),
        Event::DirectWrite => Some(WRITES.to_owned()),
        Event::Release => Some(format!("`{}`", OwnTool::Escalate.name())),
        _ => {
            let own = OwnTool::sending(event.packet_type()?)?;
            let with = if own == OwnTool::Decide { when(event) } else { BTreeMap::new() };
            let with = with.iter().map(|(name, values)| {
                let values = values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ");
                format!(" with `{name}` {values}")
            });
            Some(format!("`{}`{}", own.name(), with.collect::<String>()))
        }
    }
}

/// Returns the event that a payload's own fields indicate, if any. The payload has not been judged yet.
pub(super) fn proposed(packet: PacketType, payload: &Map<String, Value>) -> Option<Event> {
    let is = |(name, values): (&String, &Vec<String>)| {
        payload.get(name).and_then(Value::as_str).is_some_and(|value| values.iter().any(|own| own == value))
    };
    let mut of = Event::ALL.iter().copied().filter(|event| event.packet_type() == Some(packet));
    of.find(|event| WHEN.get(event.as_str()).is_some_and(|when| when.iter().all(is)))
}

/// Returns the members of a payload that make a packet an event.
fn when(event: Event) -> BTreeMap<String, Vec<String>> {
    WHEN.get(event.as_str()).cloned().unwrap_or_default()
}

/// Members by event, taken from the schema.
static WHEN: LazyLock<BTreeMap<String, BTreeMap<String, Vec<String>>>> = LazyLock::new(|| {
    let text = omen_schema::file("episode.fsm.json").unwrap_or_default();
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    let events = file.get("events").and_then(Value::as_array).cloned().unwrap_or_default();
    let when = |event: &Value| {
        let conditions = event.get("when").and_then(Value::as_array).cloned().unwrap_or_default();
        conditions.iter().filter_map(condition).collect::<BTreeMap<_, _>>()
    };
    events.iter().filter_map(|event| Some((event.get("id")?.as_str()?.to_owned(), when(event)))).collect()
});

fn condition(condition: &Value) -> Option<(String, Vec<String>)> {
    let name = condition.get("pointer")?.as_str()?.strip_prefix("/payload/")?;
    let values = condition.get("in")?.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned);
    Some((name.to_owned(), values.collect()))
}

const READS: &str = "a tool of the server that only reads";
const WRITES: &str = "a tool of the server that writes";
const GRANTED: &str = "one that the decision names; its token is issued by the operator's grants";
const WAIT: &str = "the user's answer";
const RELEASES: &str = "asks the operator to end safe mode";

#[cfg(test)]
mod tests {
    use omen_fsm::Event;

    use super::{Move, next};

    fn lines(offers: &[Event], in_loop: bool) -> Vec<String> {
        next(offers, in_loop).iter().map(Move::line).collect()
    }

    #[test]
    fn a_move_names_the_tool_and_what_it_takes() {
        let stops = "- `omen_decide` with `decision_outcome` `DEFER` or `CANCEL`: a decision to defer or cancel";
        let offers = [Event::Believe, Event::DecideStop, Event::Alert, Event::Halt, Event::Settle, Event::Close];
        assert_eq!(lines(&offers, false), ["- `omen_believe`: a belief update", stops]);
        assert_eq!(
            lines(&[Event::Authorize, Event::DirectRead], false),
            [
                "- a tool of the server that writes: one that the decision names; its token is issued by the operator's grants",
                "- a tool of the server that only reads"
            ]
        );
        assert_eq!(lines(&[Event::ObserveUser], false), ["- the user's answer"]);
    }

    #[test]
    fn a_tool_that_reads_is_an_observation_before_a_decision_and_a_directive_after_it() {
        let observes = [Event::Observe, Event::ObserveUser];
        let both =
            "- `omen_observe`, or a tool of the server that only reads: an observation other than a human's input";
        assert_eq!(lines(&observes, false), [both]);
        assert_eq!(lines(&observes, true), ["- `omen_observe`: an observation other than a human's input"]);
    }
}
