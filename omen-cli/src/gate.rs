//! `omen gate`: tries plans against the gate, and prepares its configuration.

mod catalog;
mod config;
mod dry_run;
mod pins;
mod proxy;

use std::io::Write as _;

use omen_gate::Config;

use crate::exit::{Exit, Failure};
use crate::output::Output;

pub(crate) use catalog::catalog;
pub(crate) use dry_run::dry_run;
pub(crate) use proxy::proxy;

pub(crate) fn schema(out: &mut Output) -> Result<Exit, Failure> {
    serde_json::to_writer_pretty(&mut *out, &Config::json_schema()).map_err(std::io::Error::from)?;
    writeln!(out)?;
    out.flush()?;
    Ok(Exit::Clean)
}
