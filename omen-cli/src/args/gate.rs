//! Arguments of the `omen gate` subcommands that prepare and accompany a gate.

mod catalog;
mod check;
mod confirm;
mod init;
mod prove;
mod replay;
mod wrap;

use clap::ValueEnum;

pub(crate) use self::catalog::{CATALOG_EXIT_CODES, CATALOG_HELP, CatalogArgs};
pub(crate) use self::check::{CHECK_EXIT_CODES, CHECK_HELP, GateCheckArgs};
pub(crate) use self::confirm::{CONFIRM_EXIT_CODES, CONFIRM_HELP, GateConfirmArgs};
pub(crate) use self::init::{GateInitArgs, INIT_EXIT_CODES, INIT_HELP};
pub(crate) use self::prove::{GateProveArgs, PROVE_EXIT_CODES, PROVE_HELP};
pub(crate) use self::replay::{FailOn, GateReplayArgs, REPLAY_EXIT_CODES, REPLAY_HELP};
pub(crate) use self::wrap::{GateWrapArgs, WRAP_EXIT_CODES, WRAP_HELP};

/// Format of findings about a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// For people
    Human,
    /// One object, for programs
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}
