//! `omen gate`: tests plans against the gate, and prepares its configuration.

mod arguments;
mod catalog;
mod check;
mod commands;
mod config;
#[cfg(unix)]
mod confirm;
mod dry_run;
mod entry;
mod episode;
mod init;
mod pins;
mod prove;
mod proxy;
mod remote;
mod replay;
mod wrap;

use std::io::Write as _;

use omen_gate::Config;
use omen_gate::config::SAMPLE;

use crate::exit::{Exit, Failure};
use crate::output::Output;

pub(crate) use self::check::check;
pub(crate) use catalog::{catalog, read_text as read_catalog_text};
pub(crate) use config::load as load_config;
#[cfg(unix)]
pub(crate) use confirm::confirm;
pub(crate) use dry_run::dry_run;
pub(crate) use init::init;
pub(crate) use pins::entries as entries_with_pins;
pub(crate) use prove::run as prove;
pub(crate) use proxy::proxy;
pub(crate) use replay::replay;
pub(crate) use wrap::wrap;

#[cfg(not(unix))]
pub(crate) fn confirm(_: &crate::args::GateConfirmArgs, _: &mut Output) -> Result<Exit, Failure> {
    Err(Failure::Usage("`omen gate confirm` needs a Unix socket, which this system does not have".to_owned()))
}

pub(crate) fn schema(example: bool, out: &mut Output) -> Result<Exit, Failure> {
    if example {
        out.write_all(SAMPLE.as_bytes())?;
    } else {
        serde_json::to_writer_pretty(&mut *out, &Config::json_schema()).map_err(std::io::Error::from)?;
        writeln!(out)?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}
