//! The configuration file shared by the subcommands of `omen gate`.

use std::path::Path;

use omen::render::human::clean;
use omen_gate::Config;
use omen_gate::config::ConfigErrors;

use crate::exit::{Failure, complain};

/// Loads a configuration, and reports its errors on standard error.
pub(crate) fn load(path: &Path) -> Result<Config, Failure> {
    Config::load(path).map_err(|errors| report(path, &errors))
}

pub(super) fn report(path: &Path, errors: &ConfigErrors) -> Failure {
    for error in &errors.0 {
        let (message, help) = (clean(&error.message), clean(&error.help));
        match error.line {
            0 => complain(format_args!("{message}; {help}")),
            line => complain(format_args!("{}:{line}:{}: {message}; {help}", path.display(), error.column)),
        }
    }
    Failure::Unreadable
}
