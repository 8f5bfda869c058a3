//! Selects the example logs that `omen explain` prints, so that the command contains no others, and compresses the programs that
//! `omen explain --rust` prints.

#[path = "build/cases.rs"]
mod cases;

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Deserialize;

/// Expectations of an example, from `NAME.expect.json`.
#[derive(Deserialize)]
struct Expect {
    about: String,
    fixed: Option<String>,
    findings: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    code: String,
    #[serde(default)]
    also: Vec<String>,
}

impl Expect {
    /// Scores how well this example shows a code: 2 if it is the code of a finding, 1 if a finding has it in `also`, 0 otherwise.
    fn shows(&self, code: &str) -> usize {
        let shows = |finding: &Expected| match code {
            code if finding.code == code => 2,
            code if finding.also.iter().any(|also| also == code) => 1,
            _ => 0,
        };
        self.findings.iter().map(shows).max().unwrap_or_default()
    }
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/cases.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("examples.rs"), examples()?)?;
    fs::write(out.join("cases.json.deflate"), programs(Path::new(&env::var("CARGO_MANIFEST_DIR")?))?)?;
    Ok(())
}

/// Returns all programs as compressed JSON.
fn programs(root: &Path) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    // `cargo package` turns the link `cases` into a folder. A checkout without links has the workspace.
    let workspace = root.join("../compile-tests/tests/ui");
    let folder = if workspace.is_dir() { workspace } else { root.join("cases") };
    println!("cargo::rerun-if-changed={}", folder.display());
    let all = cases::read(&folder)?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&serde_json::to_vec(&all)?)?;
    Ok(encoder.finish()?)
}

/// Returns the source of the table of example logs.
fn examples() -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut examples = Vec::new();
    for (path, text) in omen_schema::EXAMPLES {
        if let Some(stem) = path.strip_suffix(".expect.json") {
            let expect: Expect = serde_json::from_str(text).map_err(|error| format!("example {path}: {error}"))?;
            examples.push((stem, expect));
        }
    }
    let findings = || examples.iter().flat_map(|(_, expect)| &expect.findings);
    let codes: BTreeSet<&str> =
        findings().flat_map(|finding| finding.also.iter().chain([&finding.code])).map(String::as_str).collect();

    let mut source = String::from("static EXAMPLES: &[Example] = &[\n");
    for code in codes {
        let Some((stem, expect)) = best(&examples, code) else { continue };
        let path = format!("{stem}.jsonl");
        let log = log(&path)?;
        let fixed = match &expect.fixed {
            Some(path) => format!("Some({:?})", self::log(path)?),
            None => "None".to_owned(),
        };
        let about = &expect.about;
        writeln!(source, "    Example {{ code: {code:?}, about: {about:?}, log: {log:?}, fixed: {fixed} }},")?;
    }
    source.push_str("];\n");
    Ok(source)
}

/// Returns the first of the examples that show a code best. One that is named after the code takes precedence.
fn best<'e>(examples: &'e [(&'e str, Expect)], code: &str) -> Option<&'e (&'e str, Expect)> {
    let named = format!("{}-", code.to_ascii_lowercase());
    let rank = |(stem, expect): &(&str, Expect)| {
        (stem.rsplit('/').next().is_some_and(|name| name.starts_with(&named)), expect.shows(code))
    };
    let shown = examples.iter().filter(|(_, expect)| expect.shows(code) > 0);
    shown.reduce(|best, example| if rank(example) > rank(best) { example } else { best })
}

fn log(path: &str) -> Result<&'static str, String> {
    omen_schema::example(path).ok_or_else(|| format!("example {path}: it does not exist"))
}
