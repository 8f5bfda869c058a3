//! The evidence for each code of the gate: what enforces it, which tests show it, what it does not cover.
//!
//! `omen-gate/evidence.json` lists it by name. Names become outdated, so each of them is looked up in the sources.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The evidence for all codes.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Evidence(BTreeMap<String, Row>);

/// The evidence for one code.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Types and functions: `path/of/file.rs Type::function`, or a file alone.
    #[serde(deserialize_with = "enforced")]
    pub enforced: Vec<Proof>,
    /// Tests: `module::test` of the gate, `package module::test` of another package, or `ui/case.rs`.
    #[serde(deserialize_with = "shown")]
    pub shown: Vec<Proof>,
    /// What it does not cover.
    pub outside: String,
}

/// A type, function, test or file that can be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The file, from the root of the repository.
    file: String,
    /// What must be in it: a type and its function, or a function; empty if the file itself is the proof.
    names: Vec<String>,
    /// The text of its link.
    text: String,
}

impl Evidence {
    /// Reads the file.
    ///
    /// # Errors
    /// If the file cannot be read or is invalid.
    pub fn read() -> Result<Self, Box<dyn Error + Send + Sync>> {
        Self::parse(&fs::read_to_string(root().join("omen-gate/evidence.json"))?)
    }

    /// Parses a text.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn parse(text: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(serde_json::from_str(text)?)
    }

    /// Returns the evidence for a code.
    #[must_use]
    pub fn row(&self, code: &str) -> Option<&Row> {
        self.0.get(code)
    }

    /// Lists every fault: a code without evidence, a name that does not exist.
    pub fn faults<'c>(&self, codes: impl IntoIterator<Item = &'c str>) -> Vec<String> {
        let codes: Vec<_> = codes.into_iter().collect();
        let missing = codes.iter().filter(|code| !self.0.contains_key(**code));
        let mut faults: Vec<_> = missing.map(|code| format!("missing evidence for {code}")).collect();
        for (code, row) in &self.0 {
            if !codes.contains(&code.as_str()) {
                faults.push(format!("unknown code {code}"));
            }
            if row.enforced.is_empty() || row.shown.is_empty() || row.outside.is_empty() {
                faults.push(format!("{code}: `enforced`, `shown` or `outside` is empty"));
            }
            let proofs = row.enforced.iter().chain(&row.shown);
            faults.extend(proofs.filter_map(Proof::fault).map(|fault| format!("{code}: {fault}")));
        }
        faults
    }
}

impl Row {
    /// Whether one of its proofs is a compile-fail case.
    #[must_use]
    pub fn has_programs(&self) -> bool {
        self.shown.iter().any(|proof| proof.text.starts_with("ui/"))
    }
}

impl Proof {
    /// A type or a function in a file.
    fn enforced(text: &str) -> Self {
        let (file, name) = text.split_once(' ').unwrap_or((text, ""));
        let names: Vec<_> = name.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let short = file.rsplit_once("src/").map_or(file, |(_, short)| short);
        Self { file: file.to_owned(), names, text: if name.is_empty() { short } else { name }.to_owned() }
    }

    /// A test.
    fn shown(text: &str) -> Self {
        if text.starts_with("ui/") {
            return Self { file: format!("compile-tests/tests/{text}"), names: Vec::new(), text: text.to_owned() };
        }
        let (package, path) = text.split_once(' ').unwrap_or(("omen-gate", text));
        let (modules, test) = path.rsplit_once("::").unwrap_or(("main", path));
        let file = format!("{package}/tests/it/{}.rs", modules.replace("::", "/"));
        Self { file, names: vec![test.to_owned()], text: path.to_owned() }
    }

    /// What is missing, if anything.
    fn fault(&self) -> Option<String> {
        let Ok(source) = fs::read_to_string(root().join(&self.file)) else {
            return Some(format!("no file `{}`", self.file));
        };
        let missing = |(at, name): (usize, &String)| {
            let is_there = declares(&source, name) || at + 1 < self.names.len() && implements(&source, name);
            (!is_there).then(|| format!("`{name}` is not in `{}`", self.file))
        };
        self.names.iter().enumerate().find_map(missing)
    }

    /// A link to the file, for a page in `docs`.
    #[must_use]
    pub fn link(&self) -> String {
        format!("[`{}`](../{})", self.text, self.file)
    }
}

/// Whether a source declares something of that name.
pub(crate) fn declares(source: &str, name: &str) -> bool {
    let keywords = ["fn", "struct", "enum", "trait", "const", "macro_rules!"];
    keywords.iter().any(|keyword| has_word(source, &format!("{keyword} {name}")))
}

/// Whether a source has an `impl` for a type of that name.
pub(crate) fn implements(source: &str, name: &str) -> bool {
    source.lines().any(|line| line.starts_with("impl") && has_word(line, name))
}

/// Whether a source contains a text as whole words.
fn has_word(source: &str, text: &str) -> bool {
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(text).any(|(at, _)| {
        let (before, rest) = source.split_at(at);
        !before.ends_with(of_name) && !rest.strip_prefix(text).is_some_and(|after| after.starts_with(of_name))
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn enforced<'d, D: serde::Deserializer<'d>>(deserializer: D) -> Result<Vec<Proof>, D::Error> {
    Ok(Vec::<String>::deserialize(deserializer)?.iter().map(|text| Proof::enforced(text)).collect())
}

fn shown<'d, D: serde::Deserializer<'d>>(deserializer: D) -> Result<Vec<Proof>, D::Error> {
    Ok(Vec::<String>::deserialize(deserializer)?.iter().map(|text| Proof::shown(text)).collect())
}
