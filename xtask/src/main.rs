//! `cargo xtask`: commands for contributors.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xtask::dispatch::REMOTES;
use xtask::{ci, figures, package, python, rustdoc, tests};

fn main() -> ExitCode {
    if let Some(code) = rustdoc::stand_in() {
        return code;
    }
    match run() {
        Ok(code) => code,
        Err(error) => {
            // If writing this fails, there is nothing left to do.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The arguments are a command name and whatever its program accepts, so an argument parser would only add build time.
fn run() -> Result<ExitCode, Box<dyn std::error::Error + Send + Sync>> {
    let mut arguments = env::args_os().skip(1);
    let command = arguments.next();
    let name = command.as_deref().and_then(OsStr::to_str);
    if let Some(remote) = REMOTES.iter().find(|remote| name == Some(remote.name)) {
        return Ok(remote.run(arguments)?);
    }
    let rest = arguments.next();
    match (name, rest) {
        (Some("ci"), None) => ci::run(&mut io::stdout()),
        (Some("figures"), rest) if arguments.next().is_none() => Ok(figures(rest)?),
        (Some("package"), None) => package::run(),
        (Some("python"), None) => python::run(&mut io::stdout()),
        (Some("test"), None) => {
            let nextest = env::var_os(tests::NEXTEST).filter(|path| !path.is_empty());
            Ok(tests::run(&env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), nextest, &mut io::stdout())?)
        }
        (Some("-h" | "--help" | "help"), None) => {
            write!(io::stdout(), "{}", help())?;
            Ok(ExitCode::SUCCESS)
        }
        (_, rest) => {
            let found = rest.or(command);
            let error = found
                .map_or("missing command".to_owned(), |found| format!("unexpected argument `{}`", found.display()));
            write!(io::stderr(), "error: {error}\n\n{}", help())?;
            Ok(ExitCode::from(USAGE))
        }
    }
}

/// Prints figures: of a build for the argument `--build`, otherwise of the working tree that the argument names.
fn figures(argument: Option<OsString>) -> io::Result<ExitCode> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut out = io::stdout();
    let bounds = if argument.as_deref() == Some(OsStr::new("--build")) {
        figures::build::measure(&cargo, &root, figures::build::MEASURED, &mut io::stderr())?
    } else {
        let root = argument.map_or(root, PathBuf::from);
        let table = figures::Table(figures::of_workspace(&root)?);
        writeln!(out, "{table}")?;
        let mut bounds = figures::compiled(&cargo, &root)?;
        bounds.0.push(table.circles());
        bounds.0.extend(figures::sizes(&root)?);
        bounds
    };
    write!(out, "{bounds}")?;
    Ok(if bounds.are_kept() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Exit code of a usage error, the same as that of clap.
const USAGE: u8 = 2;

fn help() -> String {
    let local = [
        ("test", "Run all tests: those of all packages at once with cargo-nextest, or as `cargo test` does"),
        ("package", "Package the crates that users depend on, and build an agent with the packages alone"),
        (
            "python",
            "Build the package for Python, install it into a clean environment, and run its tests and type checkers there",
        ),
        ("ci", "Run all of CI: format, lints, examples, tests, docs; print the time of each step"),
        (
            "figures",
            "Count lines, public items and circles of modules, and the crates that a newcomer compiles; --build measures",
        ),
    ];
    let commands = local.into_iter().chain(REMOTES.iter().map(|remote| (remote.name, remote.about)));
    let lines: Vec<_> = commands.map(|(name, about)| format!("  {name:8} {about}\n")).collect();
    format!(
        "Usage: cargo xtask COMMAND [OPTIONS]\n\nCommands:\n{}\n`cargo xtask COMMAND --help` lists the options of a \
         command.\n",
        lines.concat()
    )
}
