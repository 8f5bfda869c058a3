//! Source of an episode's ids.

/// Source of ids. An id must be unique within an episode; a repeated id is refused (D21).
pub trait IdSource: Send + Sync + 'static {
    /// Returns a packet id, such as `pkt_42`.
    fn packet_id(&mut self) -> String;
    /// Returns a task id, such as `task_42`.
    fn task_id(&mut self) -> String;
    /// Returns a token id, such as `token_42`.
    fn token_id(&mut self) -> String;
}

/// Numbered ids with a prefix that distinguishes episodes: `pkt_orders_1`.
#[derive(Clone, Debug)]
pub struct Numbered {
    stem: String,
    next: u64,
}

impl Numbered {
    /// Creates a source that starts at 1.
    #[must_use]
    pub fn new(stem: impl Into<String>) -> Self {
        Self::from(stem, 1)
    }

    /// Creates a source that starts at a number, for instance for a resumed episode.
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
