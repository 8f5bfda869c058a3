//! Messages of the thread that checks to the one that asks for findings.

use std::collections::VecDeque;

use omen::Finding;

/// Findings with the texts of their lines.
pub(super) type Batch = VecDeque<(Finding, Option<String>)>;

/// Message of the thread that checks.
pub(super) enum Message {
    Findings(Batch),
    /// There is room for another chunk of the source.
    Room,
    /// The log was checked to its end; the text says why its rest cannot be read.
    End(omen::Summary, Option<std::io::Error>),
}
