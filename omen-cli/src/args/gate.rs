//! The arguments of the subcommands of `omen gate` that prepare and accompany a gate.

mod check;

pub(crate) use check::{CHECK_EXIT_CODES, CHECK_HELP, GateCheckArgs};
