//! `omen gate`: what the tool boundary would say, and what its configuration is made of.

mod catalog;
mod dry_run;
mod pins;

use std::io::Write as _;
use std::path::Path;

use omen::render::human::clean;
use omen_gate::Config;

use super::output::Output;
use super::{Failure, Outcome, complain};

pub(crate) use catalog::catalog;
pub(crate) use dry_run::dry_run;

pub(crate) fn schema(out: &mut Output) -> Result<Outcome, Failure> {
    serde_json::to_writer_pretty(&mut *out, &Config::json_schema()).map_err(std::io::Error::from)?;
    writeln!(out)?;
    out.flush()?;
    Ok(Outcome::Clean)
}

/// A configuration without a mistake. Those of another one are all complained of here.
fn config(path: &Path) -> Option<Config> {
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
