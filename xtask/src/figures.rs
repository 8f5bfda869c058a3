//! `cargo xtask figures`: the size of each package, cyclic dependencies between its modules, and what a newcomer compiles.
//! `--build` measures the latter.
//!
//! Without `--build`, figures are counted from the files. To compare two commits, pass the folder of another working tree
//! as the argument.

mod bounded;
pub mod build;
mod crates;
mod modules;
mod size;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use bounded::{Bounded, Bounds};
pub use crates::{COMPILED, Compiled, FIRST};
pub use modules::{Module, circles};
pub use size::{MOST_LINES, MOST_SMALL_FILES, SMALL, sizes};

/// The figures of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Folder of the package.
    pub package: String,
    /// Lines in `src/`, without test modules.
    pub source: usize,
    /// Lines in `tests/`, and in test modules in `src/`.
    pub tests: usize,
    /// Number of functions with a `#[test]` attribute, anywhere in the package.
    pub cases: usize,
    /// Number of lines of `api.txt` that declare an item; `None` for a package without that file.
    pub public: Option<usize>,
    /// Number of modules at the crate root.
    pub roots: usize,
    /// Groups of sibling modules with cyclic dependencies.
    pub circles: Vec<Vec<String>>,
}

/// Returns the figures of every package of a workspace, in order of their folders.
///
/// # Errors
/// If a file cannot be read.
pub fn of_workspace(root: &Path) -> io::Result<Vec<Figures>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        if path.join("Cargo.toml").is_file() {
            folders.push(path);
        }
    }
    folders.sort();
    folders.iter().map(|folder| of_package(folder)).collect()
}

fn of_package(folder: &Path) -> io::Result<Figures> {
    let mut figures = Figures {
        package: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        ..Figures::default()
    };
    let mut modules = Vec::new();
    let mut roots = BTreeSet::new();
    let source = folder.join("src");
    for file in rust_files(&source)? {
        let text = fs::read_to_string(&file)?;
        let (code, tests) = split(&text);
        figures.source += code.lines().count();
        figures.tests += tests.lines().count();
        figures.cases += cases(&text);
        let module = Module::new(file.strip_prefix(&source).unwrap_or(&file), code);
        roots.extend(module.path.first().cloned());
        modules.push(module);
    }
    for file in rust_files(&folder.join("tests"))? {
        let text = fs::read_to_string(&file)?;
        figures.tests += text.lines().count();
        figures.cases += cases(&text);
    }
    figures.public = fs::read_to_string(folder.join("api.txt")).ok().map(|api| declarations(&api));
    figures.roots = roots.len();
    figures.circles = circles(&modules);
    Ok(figures)
}

/// Splits a source into its code and the test module at its end. The declaration of a test module in a separate file has no
/// body, and is code.
fn split(text: &str) -> (&str, &str) {
    const CFG: &str = "\n#[cfg(test)]\n";
    let start = text.match_indices(CFG).map(|(at, _)| at).find(|at| {
        let rest = text.get(at + CFG.len()..).unwrap_or_default();
        let item = rest.lines().find(|line| !line.starts_with("#["));
        item.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    });
    start.and_then(|start| text.split_at_checked(start + 1)).unwrap_or((text, ""))
}

fn cases(source: &str) -> usize {
    let is_test = |line: &&str| ["#[test]", "#[tokio::test"].iter().any(|test| line.trim_start().starts_with(test));
    source.lines().filter(is_test).count()
}

/// Returns the number of items in an API listing, without implementations and parts of items.
fn declarations(api: &str) -> usize {
    let is_item = |line: &&str| {
        let rest = line.strip_prefix("#[non_exhaustive] ").unwrap_or(line);
        rest.starts_with("pub ")
    };
    api.lines().filter(is_item).count()
}

/// Returns the Rust files below a folder, which need not exist.
fn rust_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if !folder.is_dir() {
        return Ok(files);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// All figures, as a table.
#[derive(Clone, Debug)]
pub struct Table(pub Vec<Figures>);

impl Table {
    /// Returns the number of circles in all packages, with its bound.
    #[must_use]
    pub fn circles(&self) -> Bounded {
        let found = self.0.iter().map(|figures| figures.circles.len() as u64).sum();
        Bounded { what: "circles of sibling modules".to_owned(), found: Some(found), bound: Some(0) }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["source", "tests", "cases", "public", "roots", "circles"].map(str::to_owned);
        row(f, "package", &head)?;
        let mut sums = [0; 6];
        for Figures { package, source, tests, cases, public, roots, circles } in &self.0 {
            let counts = [Some(*source), Some(*tests), Some(*cases), *public, Some(*roots), Some(circles.len())];
            row(f, package, &counts.map(|count| count.map_or("-".to_owned(), |count| count.to_string())))?;
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count.unwrap_or(0));
        }
        row(f, "all", &sums.map(|sum| sum.to_string()))?;
        for figures in &self.0 {
            for circle in &figures.circles {
                writeln!(f, "circle in {}: {}", figures.package, circle.join(", "))?;
            }
        }
        Ok(())
    }
}

/// Returns the number of crates that a newcomer compiles.
///
/// # Errors
/// If cargo cannot be started, or fails.
pub fn compiled(cargo: &OsStr, root: &Path) -> io::Result<Bounds> {
    COMPILED.iter().map(|compiled| compiled.count(cargo, root)).collect::<Result<_, _>>().map(Bounds)
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, cells: &[String]) -> fmt::Result {
    write!(f, "{name:18}")?;
    cells.iter().try_for_each(|cell| write!(f, "{cell:>9}"))?;
    writeln!(f)
}
