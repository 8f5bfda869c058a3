//! The proxy's tests, one binary: a client and a server that the tests themselves play, in memory.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "a test says what it has counted")]

mod calls;
mod cancel;
#[cfg(unix)]
mod confirm;
mod confirmations;
mod ends;
mod episode;
mod eras;
mod errors;
mod fail_open;
mod http;
mod limits;
mod list;
mod lists;
mod order;
mod passages;
mod random;
mod readers;
mod relay;
mod rounds;
mod several;
mod support;
mod upstream_http;
mod user_turns;
mod watch;
