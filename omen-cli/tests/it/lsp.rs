//! `omen lsp`, as an editor speaks to it: a client on the standard streams of a process.

use super::*;

mod actions;
mod client;
mod completion;
mod configurations;
#[cfg(unix)]
mod editors;
mod findings;
mod hover;
mod lifecycle;
mod navigation;
mod random;

use client::{Client, position, range};

/// A log with a packet that is rejected, and others that follow from that.
fn cascade() -> String {
    changed(GOOD, "\"ACT\"", "\"act\"")
}

/// The place of the first occurrence of a text, in UTF-16, and so many characters of it further.
#[track_caller]
fn place(text: &str, what: &str, further: usize) -> Value {
    let at = text.find(what).unwrap_or_else(|| panic!("no {what}")) + further;
    client::position_of(text, at)
}

/// A valid log with one replacement, which must occur.
#[track_caller]
fn changed(example: &str, from: &str, to: &str) -> String {
    let text = log(example).replacen(from, to, 1);
    assert!(text != log(example), "{from}");
    text
}
