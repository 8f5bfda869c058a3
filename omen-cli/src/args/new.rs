//! Arguments of `omen new`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use omen_fsm::Event;
use omen_types::PacketType;
use omen_types::suggest::nearest;

use super::codes::NameParser;

pub(crate) const HELP: &str = "\
NAME is a packet type, such as DecisionPacket, or an event of the state machine, such as
decide_act: `omen graph` shows them. A packet type stands for its first event. Several packets
are printed in order, each of which follows the one before.

With --after, the ids, the time and the references to earlier packets continue the episode, and
stakes, budgets and tools are those of its last accepted packet. The content of the
packet is an example: replace it with the facts before you append it.

Examples:
  omen new BeliefUpdatePacket
  omen new observe believe decide_stop believe
  omen new settle --after episode.jsonl --line 8";

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The packets to print: packet types or events
    #[arg(value_name = "NAME", required = true, value_parser = events(), hide_possible_values = true)]
    pub(crate) names: Vec<Event>,

    /// A log that the packets continue; `-` means standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) after: Option<PathBuf>,

    /// The episode to continue [default: that of the last packet]
    #[arg(long, value_name = "ID", requires = "after")]
    pub(crate) episode: Option<String>,

    /// Continue after this line of the log instead of its last
    #[arg(long, value_name = "N", requires = "after")]
    pub(crate) line: Option<NonZeroU64>,
}

/// Returns the parser for an event; completions offer the packet types and all events.
fn events() -> NameParser<Event> {
    let names = || {
        let types = PacketType::ALL.iter().map(|packet_type| packet_type.as_str());
        let events = Event::ALL.iter().filter(|event| event.packet_type().is_some()).map(|event| event.as_str());
        types.chain(events).map(PossibleValue::new).collect()
    };
    NameParser { parse: event, names }
}

/// Returns the event with a name, or the first event of a packet type.
fn event(name: &str) -> Result<Event, String> {
    let events = || Event::ALL.iter().copied().filter(|event| event.packet_type().is_some());
    let is_named = |event: &Event| {
        let packet_type = event.packet_type().map_or("", PacketType::as_str);
        event.as_str().eq_ignore_ascii_case(name) || packet_type.eq_ignore_ascii_case(name)
    };
    events().find(is_named).ok_or_else(|| {
        let types = || PacketType::ALL.iter().map(|packet_type| packet_type.as_str());
        let all = || types().chain(events().map(Event::as_str));
        let lower = name.to_ascii_lowercase();
        // The text is often just the beginning of an event's name: `decide`, `direct`.
        let begun: Vec<_> =
            all().filter(|known| !lower.is_empty() && known.to_ascii_lowercase().starts_with(&lower)).collect();
        match (nearest(name, all()), &*begun) {
            (_, [_, ..]) => format!("unknown packet `{name}`; did you mean `{}`?", begun.join("`, `")),
            (Some(near), []) => format!("unknown packet `{name}`; did you mean `{near}`?"),
            (None, []) => format!(
                "unknown packet `{name}`; expected an event ({}) or a packet type ({})",
                events().map(Event::as_str).collect::<Vec<_>>().join(", "),
                types().collect::<Vec<_>>().join(", ")
            ),
        }
    })
}
