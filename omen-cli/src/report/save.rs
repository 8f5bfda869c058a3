//! Writes the report in place of an older one, whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// Refuses to write the report over one of its inputs.
pub(super) fn refuse_inputs<'p>(output: &Path, inputs: impl Iterator<Item = &'p PathBuf>) -> Result<(), Failure> {
    let Ok(output_path) = output.canonicalize() else { return Ok(()) };
    for input in inputs {
        if input.canonicalize().is_ok_and(|input| input == output_path) {
            let text = format!("`{}` is an input; name another file for the report", output.display());
            return Err(Failure::Usage(text));
        }
    }
    Ok(())
}

/// Writes a file beside `path`, and renames it: a reader of `path` gets the old report or the new one.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A device or a pipe cannot be replaced, and is written to.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let name =
        path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "is not the name of a file"))?;
    let mut part = OsString::from(".");
    part.push(name);
    part.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(part);
    let written = File::create(&part).and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // The error that is reported is the first one.
        let _ = fs::remove_file(&part);
    }
    written
}
