//! Workers, publishers and readers with a real server. `.ci/run` installs it, and `OMEN_NATS_SERVER` is its path.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stderr, reason = "what is skipped, and what a worker says, is for people")]
#![cfg(unix)]

mod agent;
mod cable;
mod clock;
mod cluster;
mod damage;
mod deploy;
mod endpoints;
mod faults;
mod hot;
mod logs;
mod messages;
mod process;
mod publisher;
mod same;
mod secure;
mod server;
mod stream;
mod tail;
mod versions;

/// The harness hides what a test prints, and nobody would see that it was skipped.
fn say(what: &str) {
    use std::io::Write as _;

    std::io::stderr().write_all(format!("\n{what}\n").as_bytes()).unwrap();
}
