//! The configuration file that the subcommands of `omen gate` share.

use std::path::Path;

use omen::render::human::clean;
use omen_gate::Config;

use crate::exit::complain;

/// Loads a configuration. All of its errors are reported here.
pub(super) fn load(path: &Path) -> Option<Config> {
    let errors = match Config::load(path) {
        Ok(config) => return Some(config),
        Err(errors) => errors,
    };
    for error in &errors.0 {
        let (message, help) = (clean(&error.message), clean(&error.help));
        match error.line {
            0 => complain(format_args!("{message}; {help}")),
            line => complain(format_args!("{}:{line}:{}: {message}; {help}", path.display(), error.column)),
        }
    }
    None
}
