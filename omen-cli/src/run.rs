//! Execution of a command line, ending with an exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::args::{
    AuditCommand, AuditVerifyArgs, Cli, Command, DiffArgs, Format, GateCommand, HookCommand, TraceArgs, check_command,
};
use crate::config::ConfigErrors;
use crate::config::content::Config;
use crate::exit::{self, Exit, Failure};
use crate::output::{self, Output};
use crate::{audit, check, completions, diff, explain, gate, graph, hook, lsp, man, new, report, rules, schema, trace};

/// Error in the command line or the configuration.
enum UsageFailure {
    /// The arguments are invalid, or request help.
    Arguments(clap::Error),
    /// The configuration is invalid.
    Config(ConfigErrors),
}

impl From<clap::Error> for UsageFailure {
    fn from(error: clap::Error) -> Self {
        Self::Arguments(error)
    }
}

/// Parses the arguments, runs the command, and returns the exit code.
pub(crate) fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match parse(args.into_iter().collect()) {
        Ok(cli) => cli,
        Err(UsageFailure::Config(errors)) => return Failure::Usage(errors.to_string()).report(),
        Err(UsageFailure::Arguments(error)) => {
            // A usage error or a request for help; clap selects the stream.
            let printed = error.print();
            return match (error.exit_code(), printed) {
                (0, Err(error)) => match Failure::from(error) {
                    Failure::Closed => ExitCode::SUCCESS,
                    failure => failure.report(),
                },
                (0, Ok(())) => ExitCode::SUCCESS,
                _ => exit::usage(),
            };
        }
    };
    #[cfg(feature = "nats")]
    let is_tail = matches!(cli.command, Command::Tail(_));
    #[cfg(not(feature = "nats"))]
    let is_tail = false;
    let is_verdict = is_tail
        || matches!(
            cli.command,
            Command::Check(_)
                | Command::Diff(_)
                | Command::Trace(_)
                | Command::Audit(_)
                | Command::Hook(HookCommand::Run(_) | HookCommand::Doctor(_) | HookCommand::Serve(_))
                | Command::Gate(
                    GateCommand::DryRun(_)
                        | GateCommand::Catalog(_)
                        | GateCommand::Check(_)
                        | GateCommand::Proxy(_)
                        | GateCommand::Replay(_)
                )
        );
    match dispatch(cli) {
        Ok(exit) => exit.into(),
        // The reader has closed the output. That is fine for a text, but an unread verdict is not a success.
        Err(Failure::Closed) if !is_verdict => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Parses the arguments, completed by the configuration. `--color` is read first, as it also applies to help and usage errors.
fn parse(args: Vec<OsString>) -> Result<Cli, UsageFailure> {
    let words: Vec<&str> = args.iter().map_while(|arg| arg.to_str().filter(|word| *word != "--")).collect();
    let mut given = words.iter().enumerate().filter_map(|(at, word)| match *word {
        "--color" => words.get(at + 1).copied(),
        word => word.strip_prefix("--color="),
    });
    let given = given.next_back().and_then(|when| when.parse().ok()).unwrap_or_default();
    let color = match (given, output::forced()) {
        (clap::ColorChoice::Auto, Some(true)) => clap::ColorChoice::Always,
        (clap::ColorChoice::Auto, Some(false)) => clap::ColorChoice::Never,
        (given, _) => given,
    };
    let read = |mut command: clap::Command| -> Result<Cli, clap::Error> {
        let mut matches = command.try_get_matches_from_mut(&args)?;
        Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    };
    let mut cli = read(Cli::command().color(color))?;
    let Some(args) = cli.command.config().filter(|args| !args.no_config) else { return Ok(cli) };
    let found = Config::find(args.config.as_deref(), &check_command()).map_err(UsageFailure::Config)?;
    let Some(mut config) = found else { return Ok(cli) };
    let command = Cli::command().color(color);
    let completed = match &cli.command {
        Command::Check(given) => {
            // Output to standard output replaces the configured format.
            let is_replaced = given.formats.outputs.iter().any(|output| output.file.is_none());
            config.with_defaults(command, "check", |id| !(is_replaced && id == "format"))
        }
        Command::Report(_) => config.with_defaults(command, "report", |id| id == "now"),
        _ => None,
    };
    if let Some(command) = completed {
        cli = read(command)?;
    }
    if let Some(args) = cli.command.config() {
        args.found = config;
    }
    Ok(cli)
}

fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    let mut out = match &cli.command {
        Command::Check(args)
            if !args.formats.stdout().is_for_people || args.fix.fix().is_some_and(|fix| fix.is_shown) =>
        {
            Output::for_programs()
        }
        Command::Rules { format: Format::Json }
        | Command::Diff(DiffArgs { format: Format::Json, .. })
        | Command::Trace(TraceArgs { format: Format::Json, .. })
        | Command::Audit(AuditCommand::Verify(AuditVerifyArgs { format: Format::Json, .. }))
        | Command::Gate(_)
        | Command::Hook(_)
        | Command::Lsp { .. }
        | Command::New(_) => Output::for_programs(),
        _ => Output::for_people(cli.color),
    };
    match cli.command {
        Command::Check(args) => check::run(&args, cli.color, &mut out),
        Command::Diff(args) => diff::run(&args, &mut out),
        Command::Trace(args) => trace::run(&args, &mut out),
        Command::Report(args) => report::run(&args, &mut out),
        Command::Explain { code, rust: true, .. } => explain::programs(&code, &mut out),
        Command::Explain { code, example, .. } => explain::run(&code, example, &mut out),
        Command::New(args) => new::run(&args, &mut out),
        Command::Rules { format } => rules::run(format, &mut out),
        Command::Schema { name } => schema::run(name.as_deref(), &check_command(), &mut out),
        Command::Graph(args) => graph::run(&args, &mut out),
        Command::Audit(AuditCommand::Verify(args)) => audit::verify(&args, &mut out),
        Command::Audit(AuditCommand::NewKey(args)) => audit::new_key(&args),
        Command::Audit(AuditCommand::ExportAnchor(args)) => audit::export_anchor(&args, &mut out),
        Command::Audit(AuditCommand::NewSigningKey(args)) => audit::new_signing_key(&args),
        Command::Audit(AuditCommand::Sign(args)) => audit::sign(&args, &mut out),
        Command::Audit(AuditCommand::VerifySigned(args)) => audit::verify_signed(&args, &mut out),
        Command::Audit(AuditCommand::Show(args)) => audit::show(&args, &mut out),
        Command::Audit(AuditCommand::Stats(args)) => audit::stats(&args, &mut out),
        #[cfg(feature = "otel")]
        Command::Audit(AuditCommand::Spans(args)) => audit::spans(&args, &mut out),
        Command::Audit(AuditCommand::Settle(args)) => audit::settle(&args),
        Command::Gate(GateCommand::DryRun(args)) => gate::dry_run(&args, &mut out),
        Command::Gate(GateCommand::Catalog(args)) => gate::catalog(&args, &mut out),
        Command::Gate(GateCommand::Init(args)) => gate::init(&args, &mut out),
        Command::Gate(GateCommand::Check(args)) => gate::check(&args, &mut out),
        Command::Gate(GateCommand::Confirm(args)) => gate::confirm(&args, &mut out),
        Command::Gate(GateCommand::Replay(args)) => gate::replay(&args, &mut out),
        Command::Gate(GateCommand::Prove(args)) => gate::prove(&args, &mut out),
        Command::Gate(GateCommand::Proxy(args)) => gate::proxy(&args),
        Command::Gate(GateCommand::Wrap(args)) => gate::wrap(&args, &mut out),
        Command::Gate(GateCommand::Schema { example }) => gate::schema(example, &mut out),
        Command::Hook(HookCommand::Run(args)) => hook::run(&args),
        Command::Hook(HookCommand::Doctor(args)) => hook::doctor(&args, &mut out),
        Command::Hook(HookCommand::Install(args)) => hook::install(&args, &mut out),
        Command::Hook(HookCommand::Serve(args)) => hook::serve(&args),
        Command::Hook(HookCommand::Tools(args)) => hook::tools(&args, &mut out),
        #[cfg(feature = "nats")]
        Command::Worker(args) => crate::nats::worker(&args),
        #[cfg(feature = "nats")]
        Command::Publish(args) => crate::nats::publish(&args),
        #[cfg(feature = "nats")]
        Command::Tail(args) => crate::nats::tail(&args, cli.color, &mut out),
        Command::Lsp { .. } => lsp::run(&mut out),
        Command::Completions { shell } => completions::run(shell, &mut out),
        Command::Man { directory } => man::run(&directory),
    }
}
