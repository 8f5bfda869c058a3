//! Ids of packets written by a proxy.

use omen_fsm::episode::IdSource;

/// Generator of ids short enough for a model to write. They need to be unique only within one episode (D21).
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberedIds {
    /// Separator between the kind of an id and its number.
    between: &'static str,
    last: usize,
}

impl NumberedIds {
    /// Id of the first packet of an episode.
    pub(super) const FIRST_PACKET: &str = "pkt_1";

    /// Creates ids for a new episode, numbered from its first packet on.
    pub(super) fn from_the_first() -> Self {
        Self { between: "_", last: 0 }
    }

    /// Creates ids for a resumed log, numbered from its number of lines on, so that they continue those already used.
    pub(super) fn after(lines: usize) -> Self {
        Self { between: "_after_", last: lines }
    }

    fn next(&mut self, kind: &str) -> String {
        self.last = self.last.saturating_add(1);
        format!("{kind}{}{}", self.between, self.last)
    }
}

impl IdSource for NumberedIds {
    fn packet_id(&mut self) -> String {
        self.next("pkt")
    }

    fn task_id(&mut self) -> String {
        self.next("task")
    }

    fn token_id(&mut self) -> String {
        self.next("token")
    }
}
