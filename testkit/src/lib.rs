//! External tools of tests, the only way to skip a test that lacks one, and the amount of testing.
//!
//! A skipped test reports what is missing and how to get it. With `OMEN_REQUIRE=all`, or a list such as
//! `OMEN_REQUIRE=browser,nats`, it fails instead, so that CI cannot pass because a tool was not installed.
//!
//! Architecture invariant: no other code decides whether a test is skipped (`skips::` in `xtask`).
#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panics")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub mod child;
#[path = "../../xtask/src/environment.rs"]
mod environment;
pub mod hook_events;
#[cfg(feature = "logs")]
pub mod logs;
pub mod programs;
pub mod proofs;

/// Variable that lists the tools that must not be missing.
pub const REQUIRE: &str = "OMEN_REQUIRE";

/// Variable with the path of the file to which a skipped test appends a line. `cargo xtask test` sets it.
pub const SKIPPED: &str = "OMEN_SKIPPED";

/// Returns cargo, with the environment of a user outside a test.
#[must_use]
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    environment::forget_package(&mut cargo);
    cargo
}

/// A requirement of a test that a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The coding agents that `omen hook` supports. They are large and slow, so `OMEN_REQUIRE=all` leaves them out.
    Agents,
    /// A browser and its driver.
    Browser,
    /// The TypeScript packages of the Model Context Protocol, its conformance suites, and the Node.js that they need.
    Conformance,
    /// The program that checks licences, sources and versions of dependencies.
    Deny,
    /// The test cases of a similar language for rules about earlier events: policies, traces and expected verdicts.
    Dogwood,
    /// The database that runs the queries of `docs/queries.md`.
    Duckdb,
    /// A library that shifts the clock of a process.
    Faketime,
    /// An independent reader of JUnit reports.
    JunitReader,
    /// The official servers of the Model Context Protocol.
    McpServers,
    /// The server to which workers connect.
    Nats,
    /// The editor Neovim.
    Neovim,
    /// The runner that executes the tests of all packages in parallel.
    Nextest,
    /// The program `node`.
    Node,
    /// Permission to run a program without a network.
    Offline,
    /// The program `python3`.
    Python,
    /// The Python client of the Model Context Protocol.
    PythonClient,
    /// The programs that build the Python package and check its types and tests.
    PythonPackage,
    /// Validators for Compose, Kubernetes and CI files.
    Schemas,
    /// The compiler that recorded the compile errors and public APIs.
    Toolchain,
    /// The program that packages VS Code extensions, and the dependencies of the extension.
    Vsce,
}

impl Need {
    /// All requirements.
    pub const ALL: [Self; 20] = [
        Self::Agents,
        Self::Browser,
        Self::Conformance,
        Self::Deny,
        Self::Dogwood,
        Self::Duckdb,
        Self::Faketime,
        Self::JunitReader,
        Self::McpServers,
        Self::Nats,
        Self::Neovim,
        Self::Nextest,
        Self::Node,
        Self::Offline,
        Self::Python,
        Self::PythonClient,
        Self::PythonPackage,
        Self::Schemas,
        Self::Toolchain,
        Self::Vsce,
    ];

    /// Returns the requirements of every CI run, which `OMEN_REQUIRE=all` includes.
    pub fn of_every_run() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|need| *need != Self::Agents)
    }

    /// Returns its name in `OMEN_REQUIRE` and for `.ci/install`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Browser => "browser",
            Self::Conformance => "conformance",
            Self::Deny => "deny",
            Self::Dogwood => "dogwood",
            Self::Duckdb => "duckdb",
            Self::Faketime => "faketime",
            Self::JunitReader => "junit-reader",
            Self::McpServers => "mcp-servers",
            Self::Nats => "nats",
            Self::Neovim => "neovim",
            Self::Nextest => "nextest",
            Self::Node => "node",
            Self::Offline => "offline",
            Self::Python => "python",
            Self::PythonClient => "python-client",
            Self::PythonPackage => "python-package",
            Self::Schemas => "schemas",
            Self::Toolchain => "toolchain",
            Self::Vsce => "vsce",
        }
    }

    /// Returns the variable that contains its path, if `.ci/install` installs it.
    #[must_use]
    pub const fn variable(self) -> Option<&'static str> {
        match self {
            Self::Agents => Some("OMEN_AGENTS"),
            Self::Browser => Some("OMEN_BROWSER"),
            Self::Conformance => Some("OMEN_MCP_CONFORMANCE"),
            Self::Deny => Some("OMEN_DENY"),
            Self::Dogwood => Some("OMEN_DOGWOOD"),
            Self::Duckdb => Some("OMEN_DUCKDB"),
            Self::Faketime => Some("OMEN_FAKETIME"),
            Self::JunitReader => Some("OMEN_JUNIT_READER"),
            Self::McpServers => Some("OMEN_MCP_SERVERS"),
            Self::Nats => Some("OMEN_NATS_SERVER"),
            Self::Neovim => Some("OMEN_NEOVIM"),
            Self::Nextest => Some("OMEN_NEXTEST"),
            Self::PythonClient => Some("OMEN_MCP_PYTHON"),
            Self::PythonPackage => Some("OMEN_PYTHON_PACKAGE"),
            Self::Schemas => Some("OMEN_SCHEMAS"),
            Self::Vsce => Some("OMEN_VSCE"),
            Self::Node | Self::Offline | Self::Python | Self::Toolchain => None,
        }
    }

    /// Returns how to get it.
    fn help(self) -> String {
        match self {
            Self::Node => "install Node.js 20".to_owned(),
            Self::Python => "install Python 3".to_owned(),
            Self::Offline => "permit `unshare --net` (util-linux, user namespaces)".to_owned(),
            Self::Toolchain => "install Rust with rustup, which reads rust-toolchain.toml".to_owned(),
            _ => format!("run `eval \"$(.ci/install {})\"`", self.name()),
        }
    }

    /// Returns the path in its variable. `None` means that the test is skipped and must return.
    ///
    /// # Panics
    /// If it is required and missing.
    #[must_use]
    #[track_caller]
    pub fn path(self) -> Option<PathBuf> {
        let variable = self.variable()?;
        let path = std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        if path.is_none() {
            self.skip(format_args!("{variable} is not set"));
        }
        path
    }

    /// Reports that the current test, or a part of it, is skipped. The test must then return.
    ///
    /// # Panics
    /// If it is required.
    #[track_caller]
    pub fn skip(self, why: impl fmt::Display) {
        let (name, help) = (self.name(), self.help());
        assert!(!required().contains(&self), "`{name}` is required by {REQUIRE}: {why}; {help}");
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("a test");
        // The harness hides the output of a passing test, which would hide the skip.
        let line = format!("{test}: {why}; {help}\n");
        let _ = std::io::stderr().write_all(format!("\nskipped {line}").as_bytes());
        // A test runner hides even stderr, but names a file to write to.
        if let Some(file) = std::env::var_os(SKIPPED) {
            let _ = std::fs::OpenOptions::new()
                .append(true)
                .open(file)
                .and_then(|mut file| file.write_all(line.as_bytes()));
        }
    }
}

/// Returns the requirements in `OMEN_REQUIRE`.
///
/// # Panics
/// If it has an unknown name.
#[must_use]
#[track_caller]
pub fn required() -> BTreeSet<Need> {
    let list = std::env::var_os(REQUIRE).unwrap_or_default();
    parse(&list.to_string_lossy()).unwrap_or_else(|error| panic!("{REQUIRE}: {error}"))
}

/// Parses a value of `OMEN_REQUIRE`: `all`, or names separated by commas.
///
/// # Errors
/// If a name is unknown.
pub fn parse(list: &str) -> Result<BTreeSet<Need>, String> {
    let mut needs = BTreeSet::new();
    for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match Need::ALL.into_iter().find(|need| need.name() == word) {
            Some(need) => drop(needs.insert(need)),
            None if word == "all" => needs.extend(Need::of_every_run()),
            None => {
                let names = Need::ALL.map(Need::name).join(", ");
                return Err(format!("unknown name `{word}`; expected `all` or some of {names}"));
            }
        }
    }
    Ok(needs)
}

/// Returns a command-line prefix that runs a program without a network; empty if that is not permitted.
///
/// # Panics
/// If it is required and not permitted.
#[must_use]
#[track_caller]
pub fn offline() -> Vec<OsString> {
    for arguments in [&["--net"][..], &["--net", "--map-root-user"]] {
        let tried = Command::new("unshare").args(arguments).arg("true").stderr(Stdio::null()).status();
        if tried.is_ok_and(|status| status.success()) {
            return ["unshare"].iter().chain(arguments).map(OsString::from).collect();
        }
    }
    Need::Offline.skip("a program runs with the network, because `unshare --net` is not permitted");
    Vec::new()
}
