//! The ids of the packets that a proxy writes.

use omen_fsm::episode::IdSource;

/// Short ids, which a model can write: they need to be unique within one episode only (D21).
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    /// What stands between the kind of an id and its number.
    between: &'static str,
    last: usize,
}

impl Numbered {
    /// The first packet of an episode.
    pub(super) const FIRST_PACKET: &str = "pkt_1";

    /// Those of an episode, from its first packet on.
    pub(super) fn from_the_first() -> Self {
        Self { between: "_", last: 0 }
    }

    /// Ids for a resumed log, numbered on from its number of lines, so that they continue those already used.
    pub(super) fn after(lines: usize) -> Self {
        Self { between: "_after_", last: lines }
    }

    fn next(&mut self, kind: &str) -> String {
        self.last = self.last.saturating_add(1);
        format!("{kind}{}{}", self.between, self.last)
    }
}

impl IdSource for Numbered {
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
