//! Generated programs: many functions in one file, compiled together, and the errors of each function.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The content of one line of a program.
pub struct Cell {
    /// Its name in a report.
    pub name: String,
    /// The type of its state, which an error must name.
    pub state: String,
}

/// A program with one function per cell, each on one line.
pub struct Program {
    text: String,
    /// The cells, by line number.
    pub cells: BTreeMap<usize, Cell>,
}

impl Program {
    /// Creates a program that begins with these lines.
    pub fn new(head: &str) -> Self {
        Self { text: format!("#![allow(unused)]\n{head}\nfn main() {{}}\n"), cells: BTreeMap::new() }
    }

    /// Adds a function with its parameters, result and body.
    pub fn add(&mut self, cell: Cell, keyword: &str, signature: &str, body: &str) {
        let line = self.text.lines().count() + 1;
        writeln!(self.text, "{keyword} cell{line}{signature} {{ {body} }}").unwrap();
        self.cells.insert(line, cell);
    }
}

/// The errors of programs, by program and line.
pub struct Errors(BTreeMap<(String, usize), Vec<String>>);

impl Errors {
    /// Returns the errors of one line.
    pub fn on_line(&self, program: &str, line: usize) -> &[String] {
        self.0.get(&(program.to_owned(), line)).map_or(&[], Vec::as_slice)
    }

    /// Returns the faults of a program's cells, each of which must have one error that begins with a rule and names the state.
    pub fn amiss(&self, program: &str, cells: &BTreeMap<usize, Cell>, is_rule: fn(&str) -> bool) -> Vec<String> {
        let amiss = |(line, cell): (&usize, &Cell)| match self.on_line(program, *line) {
            [error] => lacks(error, &cell.state, is_rule).map(|what| format!("{}: {what}\n{error}", cell.name)),
            [] => Some(format!("{} compiles, and is illegal", cell.name)),
            several => Some(format!("{} gives {} errors:\n{}", cell.name, several.len(), several.join("\n"))),
        };
        cells.iter().filter_map(amiss).collect()
    }
}

/// Returns the part that an error lacks: a rule at its beginning, or the state.
fn lacks(error: &str, state: &str, is_rule: fn(&str) -> bool) -> Option<String> {
    let first = error.lines().next().unwrap_or_default();
    let message = first.split_once("]: ").map_or(first, |(_, message)| message);
    let code = message.split([':', ' ']).next().unwrap_or_default();
    if !is_rule(code) {
        return Some(format!("`{message}` does not begin with a rule"));
    }
    let outer = state.split('<').next().unwrap_or(state);
    (!error.contains(outer)).then(|| format!("the error does not name the state `{state}`"))
}

/// The flags for compiling programs, the same as those of `trybuild` for the programs of `compile-tests`.
pub const FLAGS: [&str; 6] = ["--cfg", "trybuild", "--verbose", "-A", "dead_code", "--diagnostic-width=140"];

/// The profile for compiling programs and their dependencies: the fastest to build. Nobody debugs the generators.
pub const PROFILE: [(&str, &str); 2] = [("CARGO_PROFILE_DEV_OPT_LEVEL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "false")];

/// Compiles programs as a package in the build folder.
///
/// It has the dependencies and flags that `trybuild` uses for the programs of `compile-tests`, so each can reuse the other's
/// build.
///
/// # Panics
/// If cargo cannot be started, or if anything other than a program fails to compile.
#[must_use]
pub fn check(name: &str, programs: &[(&str, &Program)]) -> Errors {
    let package = target().join("tests/matrix").join(name);
    fs::create_dir_all(package.join("src/bin")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::write(package.join("Cargo.toml"), manifest(root)).unwrap();
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    for (name, program) in programs {
        fs::write(package.join("src/bin").join(name).with_extension("rs"), &program.text).unwrap();
    }
    let output = super::cargo()
        .args(["check", "--offline", "--keep-going", "--bins", "--message-format=json", "--target", "host-tuple"])
        .arg(format!("--config=build.rustflags={FLAGS:?}"))
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", target().join("tests/trybuild"))
        .envs(PROFILE)
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let messages = output.stdout.split(|byte| *byte == b'\n');
    let messages: Vec<Value> = messages.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let finished = messages.iter().any(|message| message["reason"] == "build-finished");
    assert!(finished, "cargo check did not finish: {}", String::from_utf8_lossy(&output.stderr));
    let mut errors: BTreeMap<(String, usize), Vec<String>> = BTreeMap::new();
    for message in messages {
        let (program, inner) = (message["target"]["name"].as_str().unwrap_or_default(), &message["message"]);
        let spans = inner["spans"].as_array().map_or(&[][..], Vec::as_slice);
        let ours = programs.iter().any(|(name, _)| *name == program);
        if let Some(span) = spans.iter().find(|span| span["is_primary"] == true)
            && inner["level"] == "error"
        {
            let rendered = inner["rendered"].as_str().unwrap().to_owned();
            assert!(ours, "the package itself does not compile: {rendered}");
            let line = usize::try_from(span["line_start"].as_u64().unwrap()).unwrap();
            errors.entry((program.to_owned(), line)).or_default().push(rendered);
        }
    }
    Errors(errors)
}

/// Returns the manifest of a package with the dependencies of `compile-tests`.
fn manifest(root: &Path) -> String {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let section = |text: &str, name: &str| {
        let (_, rest) = text.split_once(&format!("\n[{name}]\n")).unwrap();
        rest.split("\n[").next().unwrap_or_default().to_owned()
    };
    let versions = section(&read("Cargo.toml"), "workspace.dependencies");
    format!(
        "[package]\nname = \"matrix\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{}\n\n\
         [workspace]\n\n[workspace.dependencies]\n{}\n",
        section(&read("compile-tests/Cargo.toml"), "dependencies"),
        versions.replace("path = \"", &format!("path = \"{}/", root.display())),
    )
}

fn target() -> PathBuf {
    // The test runs from `<target>/<profile>/deps`.
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}
