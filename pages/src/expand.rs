//! Prints the generated code, which is not committed.
//!
//! It is the text that the build scripts of `omen-types`, `omen-invariants`, `omen-fsm` and `omen-gate`
//! write, from the same schema files and through the same lens.

use std::error::Error;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum as _;
use omen_codegen::emit::{self, Lens, Markers};

/// What to print.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The part to print [default: all]
    #[arg(value_enum)]
    pub part: Option<Part>,
}

/// A part of the generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Packet types, builders, parsers and shapes of `omen-types`
    Types,
    /// The output of typify from which the packet types are made; printed only if it is named
    Typify,
    /// The codes of findings of `omen-types`
    Codes,
    /// The codes of the tool boundary of `omen-gate`
    Gate,
    /// Markers, predicates and obligations of `omen-invariants`
    Facts,
    /// States, events and the transition table of `omen-fsm`
    Fsm,
    /// The typed API of `omen-fsm`
    Episode,
}

/// Writes generated code.
///
/// # Errors
/// If the schema files have mistakes, or if `out` cannot be written.
pub fn command(options: &Options, out: &mut dyn Write) -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let markers = Markers::parse(MARKERS)?;
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    for part in
        Part::value_variants().iter().filter(|part| options.part.map_or(**part != Part::Typify, |only| only == **part))
    {
        let sources = match part {
            Part::Types => vec![emit::types(&model, &Lens::parse(LENS)?)?],
            Part::Typify => vec![emit::typify(&model)?],
            Part::Codes => vec![emit::codes(&model)?],
            Part::Gate => vec![emit::gate(&model)?, emit::pipeline(&model, &emit::functions(Path::new(STEPS))?)?],
            Part::Facts => {
                vec![emit::markers(&model, &markers)?, emit::predicates(&model, &markers)?, emit::obligations(&model)?]
            }
            Part::Fsm => vec![emit::fsm(&model)?],
            Part::Episode => vec![emit::episode(&model, &emit::functions(Path::new(MOVES))?)?],
        };
        for source in sources {
            match out.write_all(source.as_str().as_bytes()) {
                // `cargo xtask expand | head` closes the pipe early.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
                written => written?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The markers that the build script reads.
const MARKERS: &str = include_str!("../../omen-invariants/facts.json");

/// The sources of the steps of a request.
const STEPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../omen-gate/src/request/pipeline/steps");

/// The sources of the moves of an episode.
const MOVES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../omen-fsm/src/episode/moves");

/// The lens that the build script reads.
const LENS: &str = include_str!("../../omen-types/lens.json");
