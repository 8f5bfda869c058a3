//! Prints the generated code, for reading: it is in no repository and in no editor's search.
//!
//! It is the text that the build scripts of `omen-types` and `omen-fsm` write, from the same schema
//! files and through the same lens.

use std::error::Error;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::ValueEnum as _;
use omen_codegen::emit::{self, Lens};

/// What to print.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Which part; all, if none is named
    #[arg(value_enum)]
    pub part: Option<Part>,
}

/// A part of the generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Packet types, builders, readers and shapes of `omen-types`
    Types,
    /// The codes of findings of `omen-types`
    Codes,
    /// States, events and the transition table of `omen-fsm`
    Fsm,
}

/// Writes generated code.
///
/// # Errors
/// Every mistake in the schema files, or what keeps `out` from being written.
pub fn command(options: &Options, out: &mut dyn Write) -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    for part in Part::value_variants().iter().filter(|part| options.part.is_none_or(|only| only == **part)) {
        let source = match part {
            Part::Types => emit::types(&model, &Lens::parse(LENS)?)?,
            Part::Codes => emit::codes(&model)?,
            Part::Fsm => emit::fsm(&model)?,
        };
        match out.write_all(source.as_str().as_bytes()) {
            // `cargo xtask expand | head` has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            written => written?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The lens of the build script.
const LENS: &str = include_str!("../../omen-types/lens.json");
