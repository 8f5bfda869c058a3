//! How a log is published, and what came of it.

/// How a log is published.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The most lines in a second.
    pub rate: Option<u32>,
    /// Whether its episodes end with it.
    pub ends: bool,
}

/// What was published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Lines of the log that are in the stream, without blank ones.
    pub lines: u64,
    /// Of these, the ones that were there before.
    pub before: u64,
    /// Episodes that were ended.
    pub ended: u64,
}
