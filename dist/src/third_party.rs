//! Licence texts of the third-party software in the binary.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::workspace::{Package, Sources};

/// The name of the file.
pub(crate) const FILE: &str = "THIRD-PARTY.txt";

/// How the names of files and folders with licences begin, in lower case.
const NAMES: [&str; 5] = ["copying", "licence", "license", "notice", "unlicense"];

/// A list of all packages with their licences, then each text with the packages that have it.
pub(crate) fn text(sources: &Sources) -> Result<String, Failure> {
    let mut text = format!(
        "Software by others in `omen` {}, with the license of each. It is in Rust, whose standard library is in the\n\
         binary as well: MIT OR Apache-2.0, https://github.com/rust-lang/rust.\n\n",
        sources.command.version
    );
    let mut texts = BTreeMap::<String, Vec<String>>::new();
    for package in &sources.dependencies {
        let name = format!("{} {}", package.name, package.version);
        let license = package.license.as_deref().unwrap_or("see below");
        let from = package.repository.as_deref().unwrap_or("https://crates.io");
        let files = files(package)?;
        let note = if files.is_empty() { "; the package has no file with a license" } else { "" };
        writeln!(text, "- {name}: {license}; {from}{note}")?;
        for file in files {
            let bytes = fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            // Many packages have the same text, often with other line ends.
            let license = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            let packages = texts.entry(license.trim_matches('\n').to_owned()).or_default();
            if !packages.contains(&name) {
                packages.push(name.clone());
            }
        }
    }
    for (license, packages) in texts {
        let line = "-".repeat(80);
        write!(text, "\n{line}\n{}\n{line}\n\n{license}\n", packages.join(", "))?;
    }
    Ok(text)
}

/// The files with licences of a package, also those in a folder of them, by path.
fn files(package: &Package) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in entries(package.folder())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if !NAMES.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        if path.is_dir() {
            files.extend(entries(&path)?);
        } else {
            files.push(path);
        }
    }
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let fault = |error| format!("cannot read {}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(fault)?.map(|entry| entry.map(|entry| entry.path()));
    Ok(entries.collect::<Result<_, _>>().map_err(fault)?)
}
