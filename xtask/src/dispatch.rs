//! Commands that need the workspace's crates: each is a program of another package, which cargo builds and starts.
//!
//! So `cargo xtask` itself depends on none of these crates, and starts within seconds in a fresh clone.

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode};

use crate::environment::forget_package;

/// A command and the program that implements it. The program has a subcommand with the same name.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// Name of the command.
    pub name: &'static str,
    /// Description, for the help.
    pub about: &'static str,
    /// Package of the program.
    pub package: &'static str,
    /// Whether the program is built with optimizations.
    pub release: bool,
}

/// All such commands.
pub const REMOTES: &[Remote] = &[
    Remote {
        name: "docs",
        about: "Write the generated parts of the pages in docs/",
        package: "omen-pages",
        release: false,
    },
    Remote {
        name: "dist",
        about: "Make the files of a release: an archive, a wheel, packages for npm, checksums",
        package: "omen-dist",
        release: false,
    },
    Remote { name: "expand", about: "Print the generated code", package: "omen-pages", release: false },
    Remote {
        name: "referee",
        about: "Compare the packet readers with an independent JSON Schema validator on mutated packets",
        package: "omen-proofs",
        release: true,
    },
    Remote {
        name: "walk",
        about: "Walk at random over the typed API; validate and resume what it writes",
        package: "omen-proofs",
        release: false,
    },
    Remote {
        name: "bench",
        about: "Measure validation (default), the typed API (--episode), the gate (--gate), an editor (--editor) or workers (--workers)",
        package: "omen-proofs",
        release: true,
    },
];

impl Remote {
    /// Returns the arguments with which cargo builds and starts the program.
    #[must_use]
    pub fn cargo_arguments(&self, rest: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        let release = self.release.then_some("--release");
        let words = ["run", "--quiet", "--package", self.package].into_iter().chain(release).chain(["--", self.name]);
        words.map(OsString::from).chain(rest).collect()
    }

    /// Builds and runs the program with the remaining arguments.
    ///
    /// # Errors
    /// If cargo cannot be started.
    pub fn run(&self, rest: impl IntoIterator<Item = OsString>) -> io::Result<ExitCode> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = forget_package(&mut Command::new(cargo)).args(self.cargo_arguments(rest)).status()?;
        // Cargo passes on the program's exit code; none means that a signal ended it.
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
    }
}
