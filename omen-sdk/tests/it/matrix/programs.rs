//! Generated programs, with many functions in one file that are compiled together, and the errors of each function. The
//! packages that have a matrix share this file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The content of one line of a program.
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) state: String,
}

/// One function for each call, each on one line.
pub(crate) struct Program {
    text: String,
    pub(crate) cells: BTreeMap<usize, Cell>,
}

impl Program {
    /// A program that begins with these lines.
    pub(crate) fn new(head: &str) -> Self {
        Self { text: format!("#![allow(unused)]\n{head}\nfn main() {{}}\n"), cells: BTreeMap::new() }
    }

    /// Adds a function with its parameters, result and body.
    pub(crate) fn add(&mut self, cell: Cell, keyword: &str, signature: &str, body: &str) {
        let line = self.text.lines().count() + 1;
        writeln!(self.text, "{keyword} cell{line}{signature} {{ {body} }}").unwrap();
        self.cells.insert(line, cell);
    }
}

/// The errors of programs, by program and line.
pub(crate) struct Errors(BTreeMap<(String, usize), Vec<String>>);

impl Errors {
    /// The errors of one line.
    pub(crate) fn of(&self, program: &str, line: usize) -> &[String] {
        self.0.get(&(program.to_owned(), line)).map_or(&[], Vec::as_slice)
    }

    /// The faults of the cells of a program, each of which must have one error that begins with a rule and names the
    /// state.
    pub(crate) fn amiss(&self, program: &str, cells: &BTreeMap<usize, Cell>, is_rule: fn(&str) -> bool) -> Vec<String> {
        let amiss = |(line, cell): (&usize, &Cell)| match self.of(program, *line) {
            [error] => lacks(error, &cell.state, is_rule).map(|what| format!("{}: {what}\n{error}", cell.name)),
            [] => Some(format!("{} compiles, and is illegal", cell.name)),
            several => Some(format!("{} gives {} errors:\n{}", cell.name, several.len(), several.join("\n"))),
        };
        cells.iter().filter_map(amiss).collect()
    }
}

/// What is missing in an error: a rule at its beginning, or the state.
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

/// Compiles programs as a package that depends only on this one, in the folder of the build.
pub(crate) fn check(programs: &[(&str, &Program)]) -> Errors {
    let folder = target().join("tests/matrix");
    let package = folder.join(env!("CARGO_PKG_NAME"));
    fs::create_dir_all(package.join("src/bin")).unwrap();
    let this = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = format!(
        "[package]\nname = \"matrix\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{} = {{ path = {this:?} }}\n\n[workspace]\n",
        env!("CARGO_PKG_NAME"),
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(this.parent().unwrap().join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    for (name, program) in programs {
        fs::write(package.join("src/bin").join(name).with_extension("rs"), &program.text).unwrap();
    }
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--keep-going", "--bins", "--message-format=json"])
        .current_dir(&package)
        // That of `trybuild`, which has built what build scripts need.
        .env("CARGO_TARGET_DIR", target().join("tests/trybuild"))
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

fn target() -> PathBuf {
    // The test runs from `<target>/<profile>/deps`.
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}
