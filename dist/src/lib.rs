//! The files of a release, made from one binary of the command `omen`: an archive, a wheel for Python, packages for npm, and
//! their checksums. `cargo xtask dist` makes them.
//!
//! The same binary gives the same bytes: entries are sorted, and their times are fixed.
//!
//! Architecture invariant: this package depends on no other package of the workspace, so that packaging does not build them.

mod archive;
mod content;
mod entry;
#[path = "../../xtask/src/environment.rs"]
mod environment;
mod npm;
mod platform;
mod third_party;
mod wheel;
mod workspace;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use sha2::{Digest as _, Sha256};

pub use content::{Content, SHELLS, Shell};
pub use entry::Entry;
pub use platform::{Binary, PLATFORMS, Platform};
pub use workspace::build;

/// Why a release cannot be made.
pub type Failure = Box<dyn Error + Send + Sync>;

/// The file with the checksums, in the format of `sha256sum`.
pub const CHECKSUMS: &str = "SHA256SUMS";

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Makes the files of a release, sorted by name; the checksums come last.
///
/// # Errors
/// If a file cannot be compressed.
pub fn pack(content: &Content) -> Result<Vec<ReleaseFile>, Failure> {
    let mut files = vec![archive::release(content)?, wheel::release(content)?];
    files.extend(npm::release(content)?);
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let sums = files.iter().map(|file| format!("{}  {}\n", sha256(&file.bytes), file.name));
    let bytes = sums.collect::<String>().into_bytes();
    files.push(ReleaseFile { name: CHECKSUMS.to_owned(), bytes });
    Ok(files)
}

/// Writes the files of a release into a folder, which is created if it is missing.
///
/// # Errors
/// If a file cannot be written.
pub fn write(files: &[ReleaseFile], folder: &Path) -> Result<(), Failure> {
    let fault = |path: &Path, error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| fault(folder, error))?;
    for file in files {
        let path = folder.join(&file.name);
        fs::write(&path, &file.bytes).map_err(|error| fault(&path, error))?;
    }
    Ok(())
}

/// The SHA-256 hash of bytes in hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

/// Runs a program, and returns what it prints on standard output.
fn printed(command: &mut Command) -> Result<String, Failure> {
    let words = [command.get_program()].into_iter().chain(command.get_args()).map(|word| word.to_string_lossy());
    let words = words.collect::<Vec<_>>().join(" ");
    let Output { status, stdout, stderr } =
        command.output().map_err(|error| format!("cannot start `{words}`: {error}"))?;
    if !status.success() {
        return Err(format!("`{words}` failed: {status}\n{}", String::from_utf8_lossy(&stderr)).into());
    }
    String::from_utf8(stdout).map_err(|_| format!("`{words}` does not print UTF-8").into())
}
