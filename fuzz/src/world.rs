//! Environment of a fuzzed episode: a clock and ids that are set from outside, and a log that outlives it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omen::{AnyEpisode, Claims, CorrelationId, DynEnvelope, IdSource, Instant, Line, Log, OnDrop, Setup, TimeSource};
use omen_types::{Packet, Timestamp};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::script;

/// What the script says about the surroundings, at a moment.
#[derive(Clone, Default)]
pub(super) struct World(Arc<Mutex<State>>);

#[derive(Clone, Debug, Default)]
struct State {
    now: Option<Instant>,
    /// The packet id that comes next, if it is not numbered.
    next: Option<String>,
    numbered: u64,
    lines: Vec<String>,
}

impl World {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same surroundings for another handle of the episode, which writes a log of its own.
    pub(super) fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.state().clone())))
    }

    /// Everything that was written, also when the episode was dropped.
    pub(super) fn lines(&self) -> Vec<String> {
        self.state().lines.clone()
    }

    pub(super) fn set_time(&self, now: Instant) {
        self.state().now = Some(now);
    }

    /// The next packet has this id, if the episode has not used it.
    pub(super) fn set_next(&self, id: String) {
        self.state().next = Some(id);
    }

    pub(super) fn setup(&self, of: &str, envelope: &DynEnvelope, on_drop: OnDrop) -> Option<Setup> {
        let id: CorrelationId = of.parse().ok()?;
        let world = self.clone();
        Some(
            Setup::new(id, envelope, world.clone())
                .ids(world.clone())
                .log(Written(world, Vec::new()))
                .on_drop(on_drop)
                .claims(&Claims::new()),
        )
    }
}

impl TimeSource for World {
    fn now(&self) -> Instant {
        self.state().now.unwrap_or_else(|| "2026-03-01T10:00:00Z".parse().unwrap_or_else(|_| unreachable!("a time")))
    }
}

impl IdSource for World {
    fn packet_id(&mut self) -> String {
        let mut state = self.state();
        state.numbered += 1;
        let numbered = format!("pkt_{}", state.numbered);
        state.next.take().unwrap_or(numbered)
    }

    fn task_id(&mut self) -> String {
        self.packet_id().replace("pkt_", "task_")
    }

    fn token_id(&mut self) -> String {
        self.packet_id().replace("pkt_", "token_")
    }
}

struct Written(World, Vec<String>);

impl Log for Written {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        let lines = || lines.iter().map(|line| line.text.to_owned());
        self.0.state().lines.extend(lines());
        self.1.extend(lines());
        Ok(())
    }

    fn lines(&self) -> &[String] {
        &self.1
    }
}

/// A proposal, and what its header was.
pub(super) struct Proposed {
    pub(super) text: String,
    pub(super) packet_id: Option<String>,
    pub(super) at: Option<Instant>,
}

/// Makes a proposal of a packet; any other text is one as it is.
pub(super) fn proposed(line: &[u8]) -> Option<Proposed> {
    let text = std::str::from_utf8(line).ok()?;
    Some(of_packet(text).unwrap_or_else(|| Proposed { text: text.to_owned(), packet_id: None, at: None }))
}

fn of_packet(text: &str) -> Option<Proposed> {
    let parts: std::collections::BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let header: Map<String, Value> = serde_json::from_str(parts.get("header")?.get()).ok()?;
    let packet_type = Value::from(header.get("packet_type")?.as_str()?);
    let at = header.get("created_at").and_then(|at| at.as_str()?.parse::<Timestamp>().ok());
    let mcp = parts.get("mcp").map(|mcp| format!(r#""mcp":{mcp},"#)).unwrap_or_default();
    Some(Proposed {
        text: format!(r#"{{"packet_type":{packet_type},{mcp}"payload":{}}}"#, parts.get("payload")?),
        packet_id: header.get("packet_id").and_then(|id| Some(id.as_str()?.to_owned())),
        at: at.map(|at| at.instant()),
    })
}

/// The envelope of an episode: that of the first packet that has one, else that of an example.
pub(super) fn envelope<'l>(lines: impl IntoIterator<Item = &'l [u8]>) -> Option<DynEnvelope> {
    let read = |line: &[u8]| {
        let packet: Packet = std::str::from_utf8(line).ok()?.parse().ok()?;
        DynEnvelope::new(packet.mcp().clone()).ok()
    };
    lines.into_iter().find_map(read).or_else(|| script::examples().iter().find_map(|(_, line)| read(line.as_bytes())))
}

/// What an episode is, to compare two.
pub(super) fn outline(episode: &AnyEpisode) -> String {
    let tasks: Vec<_> = episode.tasks().iter().map(|task| task.task_id().to_string()).collect();
    format!(
        "{:?} {:?} {:?} {tasks:?} {:?}",
        std::mem::discriminant(episode),
        episode.nodes(),
        episode.moves(),
        episode.live_tokens()
    )
}
