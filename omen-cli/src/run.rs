//! From the arguments to an exit code.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use crate::args::{AuditCommand, AuditVerifyArgs, Cli, Command, Format, GateCommand};
use crate::config::{self, Refused};
use crate::exit::{self, Exit, Failure};
use crate::output::Output;
use crate::{audit, check, explain, gate, graph, new, rules, schema, trace};

/// Parses the arguments, runs the command, and returns the exit code.
pub(crate) fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match config::parse(args) {
        Ok(cli) => cli,
        Err(Refused::Config(errors)) => return Failure::Usage(errors.to_string()).report(),
        Err(Refused::Arguments(error)) => {
            // A usage error, or a request for help; clap knows which stream is for which.
            let printed = error.print();
            return match (error.exit_code(), printed) {
                (0, Err(error)) => Failure::Output(error).report(),
                (0, Ok(())) => ExitCode::SUCCESS,
                _ => exit::usage(),
            };
        }
    };
    match dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(),
    }
}

fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    let mut out = match &cli.command {
        Command::Check(args) if !args.format.is_for_people() => Output::for_programs(),
        Command::Rules { format: Format::Json }
        | Command::Audit(AuditCommand::Verify(AuditVerifyArgs { format: Format::Json, .. }))
        | Command::Gate(_)
        | Command::New(_) => Output::for_programs(),
        _ => Output::for_people(cli.color),
    };
    match cli.command {
        Command::Check(args) => check::run(&args, &mut out),
        Command::Trace(args) => trace::run(&args, &mut out),
        Command::Explain { code, example } => explain::run(&code, example, &mut out),
        Command::New(args) => new::run(&args, &mut out),
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

fn completions(shell: clap_complete::Shell, out: &mut Output) -> Result<Exit, Failure> {
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut <Cli as clap::CommandFactory>::command(), "omen", &mut script);
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Clean)
}
