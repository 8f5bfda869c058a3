//! Content of a release: the binary, the files that it prints about itself, and licences.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::third_party;
use crate::workspace::Sources;
use crate::{Binary, Entry, Failure, printed};

/// What a release carries.
#[derive(Clone, Debug)]
pub struct Content {
    /// The version of all packages.
    pub version: String,
    /// What the command is for, in one line.
    pub summary: String,
    /// The licence of the command, as an expression of SPDX.
    pub license: String,
    /// The system of the binary.
    pub system: Binary,
    /// The command.
    pub binary: Vec<u8>,
    /// `README.md`.
    pub readme: String,
    /// Our licences.
    pub licenses: Vec<Entry>,
    /// The licences of the software by others that is in the binary.
    pub third_party: Entry,
    /// The completions of each shell.
    pub completions: Vec<(&'static Shell, String)>,
    /// Manual pages.
    pub manual: Vec<Entry>,
}

/// Where the completions of a shell are.
#[derive(Debug, PartialEq, Eq)]
pub struct Shell {
    /// Its name for `omen completions`.
    name: &'static str,
    /// The file in the archive.
    pub file: &'static str,
    /// The file below the prefix of an installation, where the shell looks for completions.
    pub installed: Option<&'static str>,
}

/// The shells whose completions are packed.
pub static SHELLS: [Shell; 4] = [
    Shell { name: "bash", file: "omen.bash", installed: Some("share/bash-completion/completions/omen") },
    Shell { name: "fish", file: "omen.fish", installed: Some("share/fish/vendor_completions.d/omen.fish") },
    Shell { name: "powershell", file: "_omen.ps1", installed: None },
    Shell { name: "zsh", file: "_omen", installed: Some("share/zsh/site-functions/_omen") },
];

/// Our own licences, at the root of the workspace.
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

impl Content {
    /// Collects it from a workspace and from a binary, which has to run on this system.
    ///
    /// # Errors
    /// If the binary is for another system or of another version, or if a file cannot be read.
    pub fn collect(root: &Path, binary: &Path) -> Result<Self, Failure> {
        let of_binary = |error: String| format!("{}: {error}", binary.display());
        let bytes = fs::read(binary).map_err(|error| of_binary(error.to_string()))?;
        let system = Binary::read(&bytes).map_err(of_binary)?;
        // A path without a folder would be searched in the folders of the system.
        let path = binary.canonicalize()?;
        let run = |arguments: &[&str]| printed(Command::new(&path).args(arguments));
        let sources = Sources::read(root, system.platform)?;
        let (found, expected) = (run(&["--version"])?, format!("omen {}", sources.command.version));
        if found.trim_end() != expected {
            return Err(of_binary(format!("expected `{expected}`, found `{}`", found.trim_end())).into());
        }
        let completions = SHELLS.iter().map(|shell| Ok((shell, run(&["completions", shell.name])?)));
        let completions = completions.collect::<Result<_, Failure>>()?;
        let read =
            |name: &str| fs::read_to_string(root.join(name)).map_err(|error| format!("cannot read {name}: {error}"));
        let licenses = LICENSES.iter().map(|name| Ok(Entry::text(*name, read(name)?)));
        let licenses = licenses.collect::<Result<_, Failure>>()?;
        let third_party = Entry::text(third_party::FILE, third_party::text(&sources)?);
        let described = |value: Option<String>| value.ok_or("the package of the command has no description or license");
        Ok(Self {
            version: sources.command.version,
            summary: described(sources.command.description)?,
            license: described(sources.command.license)?,
            system,
            binary: bytes,
            readme: read("README.md")?,
            licenses,
            third_party,
            completions,
            manual: manual(&path)?,
        })
    }
}

/// The manual pages that a binary writes, by name.
fn manual(binary: &Path) -> Result<Vec<Entry>, Failure> {
    let folder = tempfile::tempdir()?;
    printed(Command::new(binary).arg("man").arg(folder.path()))?;
    let mut pages = Vec::new();
    for page in fs::read_dir(folder.path())? {
        let page = page?;
        let name = page.file_name().into_string().map_err(|name| format!("invalid name {}", name.display()))?;
        pages.push(Entry::text(name, fs::read(page.path())?));
    }
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(pages)
}
