//! Writes the corpus as the fuzzer reads it, and back.
//!
//! `unpack` fills `corpus/TARGET/` from `inputs/TARGET.txt`, `crashes/TARGET.txt` and the example logs, and writes `corpus/TARGET.dict`
//! from the schema files. `pack` writes `inputs/TARGET.txt` from `corpus/TARGET/`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use omen_fuzz::{inputs, script};
use serde_json::Value;

const TARGETS: [&str; 4] = ["parse", "validator", "propose", "resume"];

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("unpack") => unpack(),
        Some("pack") => TARGETS.iter().try_for_each(|target| pack(target)),
        _ => Err(io::Error::other("usage: corpus unpack|pack")),
    }
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn corpus(target: &str) -> PathBuf {
    folder().join("corpus").join(target)
}

fn unpack() -> io::Result<()> {
    for target in TARGETS {
        let mut all = BTreeSet::new();
        for kept in ["inputs", "crashes"] {
            let file = folder().join(kept).join(target).with_extension("txt");
            let text = if file.exists() { fs::read_to_string(file)? } else { String::new() };
            all.extend(text.lines().filter(|line| !line.is_empty()).map(inputs::unescape));
        }
        for (path, log) in logs() {
            let script: Vec<_> = script::named(path, log).map(|(digits, _)| format!("#{digits:04x}")).collect();
            match target {
                "parse" => all.extend(log.lines().map(|line| line.as_bytes().to_vec())),
                _ => drop(all.insert(script.join("\n").into_bytes())),
            }
        }
        fs::create_dir_all(corpus(target))?;
        for input in all {
            fs::write(corpus(target).join(format!("{:016x}", script::hash(&input))), input)?;
        }
        fs::write(corpus(target).with_extension("dict"), dictionary(target)?)?;
    }
    Ok(())
}

fn pack(target: &str) -> io::Result<()> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(corpus(target))? {
        all.insert(inputs::escape(&fs::read(entry?.path())?));
    }
    let text: String = all.iter().filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect();
    fs::create_dir_all(folder().join("inputs"))?;
    fs::write(folder().join("inputs").join(target).with_extension("txt"), text)
}

fn logs() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"))
}

/// What a mutation would seldom find by itself.
fn dictionary(target: &str) -> io::Result<String> {
    let mut words = BTreeSet::new();
    for (_, text) in omen_schema::FILES.iter().filter(|(path, _)| path.ends_with(".schema.json")) {
        names(&serde_json::from_str(text)?, &mut words);
    }
    let mut all: Vec<String> = FORMS.iter().map(|form| form.to_string()).collect();
    if target == "parse" {
        all.extend(words.iter().map(|word| format!("\"{word}\"")));
    } else {
        let legal = logs().filter(|(path, _)| path.starts_with("valid/"));
        let lines = legal.flat_map(|(path, log)| script::named(path, log));
        all.extend(lines.map(|(digits, _)| format!("\n={digits:04x}")));
        all.extend(words.iter().map(|word| format!("~{word}")));
    }
    Ok(all.iter().map(|word| entry(word)).collect())
}

/// Forms of JSON, and lines of scripts.
const FORMS: [&str; 18] = [
    "null",
    "true",
    "false",
    "1e2",
    "1.0",
    "-0",
    "1e400",
    "18446744073709551616",
    "\\u0041",
    "\\ud83d\\ude00",
    "\\ud800",
    "[]",
    "{}",
    ",\"",
    "\":",
    ": ",
    "\n|\n",
    "\n@2026-03-01T10:00:00Z\n",
];

/// The names of members and the values of enums.
fn names(schema: &Value, words: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::Object(properties) if key == "properties" => words.extend(properties.keys().cloned()),
                    Value::String(word) if key == "const" => drop(words.insert(word.clone())),
                    Value::Array(all) if key == "enum" => {
                        words.extend(all.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    _ => {}
                }
                names(value, words);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| names(element, words)),
        _ => {}
    }
}

/// A line of a dictionary.
fn entry(word: &str) -> String {
    let escaped = word.bytes().map(|byte| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    });
    format!("\"{}\"\n", escaped.collect::<String>())
}
