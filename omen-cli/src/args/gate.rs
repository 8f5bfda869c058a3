//! The arguments of the subcommands of `omen gate` that prepare and accompany a gate.

mod check;
mod confirm;
mod init;

pub(crate) use check::{CHECK_EXIT_CODES, CHECK_HELP, GateCheckArgs};
pub(crate) use confirm::{CONFIRM_EXIT_CODES, CONFIRM_HELP, GateConfirmArgs};
pub(crate) use init::{GateInitArgs, INIT_EXIT_CODES, INIT_HELP};
