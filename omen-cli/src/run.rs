//! From the arguments to an exit code.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{AuditCommand, AuditVerifyArgs, CheckArgs, Cli, Command, Format, GateCommand};
use crate::output::Output;
use crate::{audit, check, explain, gate, graph, rules, schema, trace};

/// Parses the arguments, runs the command, and gives the exit code.
pub(crate) fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // A usage error, or a request for help; clap knows where each belongs.
            let printed = error.print();
            return match (error.exit_code(), printed) {
                (0, Err(error)) => Failure::Output(error).report(),
                (0, Ok(())) => ExitCode::SUCCESS,
                _ => ExitCode::from(USAGE),
            };
        }
    };
    match dispatch(cli) {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::ErrorsFound) => ExitCode::from(ERRORS_FOUND),
        Ok(Outcome::Unread) => ExitCode::from(FAILED),
        Err(failure) => failure.report(),
    }
}

fn dispatch(cli: Cli) -> Result<Outcome, Failure> {
    let mut out = match &cli.command {
        Command::Check(CheckArgs { format: Format::Json, .. })
        | Command::Rules { format: Format::Json }
        | Command::Audit(AuditCommand::Verify(AuditVerifyArgs { format: Format::Json, .. }))
        | Command::Gate(_) => Output::for_programs(),
        _ => Output::for_people(cli.color),
    };
    match cli.command {
        Command::Check(args) => check::run(&args, &mut out),
        Command::Trace(args) => trace::run(&args, &mut out),
        Command::Explain { code } => explain::run(code, &mut out),
        Command::Rules { format } => rules::run(format, &mut out),
        Command::Schema { name } => schema::run(name.as_deref(), &mut out),
        Command::Graph { format } => graph::run(format, &mut out),
        Command::Audit(AuditCommand::Verify(args)) => audit::verify(&args, &mut out),
        Command::Audit(AuditCommand::NewKey(args)) => Ok(audit::new_key(&args)),
        Command::Audit(AuditCommand::ExportAnchor(args)) => audit::export_anchor(&args, &mut out),
        Command::Gate(GateCommand::DryRun(args)) => gate::dry_run(&args, &mut out),
        Command::Gate(GateCommand::Catalog(args)) => gate::catalog(&args, &mut out),
        Command::Gate(GateCommand::Schema) => gate::schema(&mut out),
        Command::Completions { shell } => completions(shell, &mut out),
    }
}

fn completions(shell: clap_complete::Shell, out: &mut Output) -> Result<Outcome, Failure> {
    // The generator panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut <Cli as clap::CommandFactory>::command(), "omen", &mut script);
    out.write_all(&script)?;
    out.flush()?;
    Ok(Outcome::Clean)
}

/// How a run ended that was able to deliver what it had to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// No error was found.
    Clean,
    /// At least one error was found.
    ErrorsFound,
    /// Some input could not be read; what could be was judged.
    Unread,
}

/// Why a run came to an end early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments make no sense.
    Usage(String),
    /// Standard output is closed, or full.
    Output(io::Error),
    /// A mistake in this program.
    Internal(String),
}

impl Failure {
    fn report(&self) -> ExitCode {
        complain(self);
        match self {
            Failure::Usage(_) => ExitCode::from(USAGE),
            Failure::Output(_) | Failure::Internal(_) => ExitCode::from(FAILED),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(what) => f.write_str(what),
            Failure::Output(error) => write!(f, "cannot write to stdout: {error}"),
            Failure::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

/// Only standard output gives bare I/O errors; those of inputs name their file and are reported at
/// once.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// One line on standard error.
pub(crate) fn complain(what: impl fmt::Display) {
    // If even this cannot be written, the exit code still tells.
    let _ = writeln!(io::stderr(), "omen: {what}");
}

const ERRORS_FOUND: u8 = 1;
const USAGE: u8 = 2;
const FAILED: u8 = 3;
