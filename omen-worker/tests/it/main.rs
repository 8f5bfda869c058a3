//! Tests of workers, publishers and readers with a real server, which `.ci/install nats` installs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stderr, reason = "what a worker says is for people")]
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
mod restored;
mod same;
mod secure;
mod server;
mod sourced;
mod stream;
mod tail;
mod versions;

/// Prints a measurement. The harness hides other output of tests that pass.
fn say(what: &str) {
    use std::io::Write as _;

    std::io::stderr().write_all(format!("\n{what}\n").as_bytes()).unwrap();
}
