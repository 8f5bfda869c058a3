//! The source of an episode's ids.

/// The source of ids. An id must not repeat within an episode (D21); a repeated id is refused.
pub trait IdSource: Send + Sync + 'static {
    /// Returns a packet id, such as `pkt_42`.
    fn packet_id(&mut self) -> String;
    /// Returns a task id, such as `task_42`.
    fn task_id(&mut self) -> String;
    /// Returns a token id, such as `token_42`.
    fn token_id(&mut self) -> String;
}

/// Numbered ids with a stem that distinguishes episodes: `pkt_orders_1`.
#[derive(Clone, Debug)]
pub struct Numbered {
    stem: String,
    next: u64,
}

impl Numbered {
    /// Counts from 1.
    #[must_use]
    pub fn new(stem: impl Into<String>) -> Self {
        Self::from(stem, 1)
    }

    /// Counts from a number, for instance when an episode is resumed.
    #[must_use]
    pub fn from(stem: impl Into<String>, next: u64) -> Self {
        Self { stem: stem.into(), next }
    }

    fn id(&mut self, kind: &str) -> String {
        let id = format!("{kind}_{}_{}", self.stem, self.next);
        self.next = self.next.saturating_add(1);
        id
    }
}

impl IdSource for Numbered {
    fn packet_id(&mut self) -> String {
        self.id("pkt")
    }

    fn task_id(&mut self) -> String {
        self.id("task")
    }

    fn token_id(&mut self) -> String {
        self.id("token")
    }
}
