//! `omen hook tools`: the tools of an agent, as a catalogue or as entries for the allowlist.

use std::collections::BTreeMap;
use std::io::Write as _;

use omen_gate::Config;
use omen_gate::catalog::Catalog;
use omen_hook::Dialect;

use crate::args::HookToolsArgs;
use crate::exit::{Exit, Failure};
use crate::gate;
use crate::output::Output;

pub(crate) fn tools(args: &HookToolsArgs, out: &mut Output) -> Result<Exit, Failure> {
    let dialect = Dialect::from_agent(&args.agent).map_err(|error| Failure::Usage(error.to_string()))?;
    let lists = BTreeMap::from([(dialect.agent.clone(), dialect.tools())]);
    let text = serde_json::to_string_pretty(&lists).map_err(std::io::Error::from)?;
    if args.pins {
        let internal = |error: &dyn std::fmt::Display| Failure::Internal(error.to_string());
        let catalog = Catalog::parse(&text).map_err(|error| internal(&error))?;
        let config = Config::parse(&format!("[servers.{}]\n", dialect.agent)).map_err(|errors| internal(&errors))?;
        writeln!(out, "[servers.{}]\n", dialect.agent)?;
        out.write_all(gate::entries_with_pins(&catalog, &config).as_bytes())?;
    } else {
        writeln!(out, "{text}")?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}
