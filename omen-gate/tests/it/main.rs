//! Tests of the gate, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "a test says what it has counted")]

mod arguments;
mod asked;
#[cfg(target_os = "linux")]
mod audit;
mod breaker;
mod bridge;
mod budget;
mod catalog;
mod client_call;
mod clock;
mod code;
mod config;
mod conform;
mod dry_run;
mod faults;
mod fuzz;
mod gates;
mod grants;
mod health;
mod holes;
mod leases;
mod limits;
mod lists;
mod matrix;
#[cfg(unix)]
mod mcp;
mod order;
mod order_log;
mod output;
mod pipeline;
mod plan;
mod policy;
mod prove;
mod random;
mod reload;
mod replay;
mod restart;
mod server;
mod steps;
mod summary;
mod support;
mod turn;
