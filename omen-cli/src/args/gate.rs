//! The arguments of the subcommands of `omen gate` that prepare and accompany a gate.

mod check;
mod init;

pub(crate) use check::{CHECK_EXIT_CODES, CHECK_HELP, GateCheckArgs};
pub(crate) use init::{GateInitArgs, INIT_EXIT_CODES, INIT_HELP};
