//! The wheel: a package of PyPI that installs the binary as a script. [The format] is a zip archive.
//!
//! [The format]: https://packaging.python.org/en/latest/specifications/binary-distribution-format/

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::{Content, Entry, Failure, ReleaseFile};

/// The name in PyPI; `omen-sdk` and the module `omen` are left to a library for Python.
const NAME: &str = "omen-cli";

/// The name in paths, where a `-` separates parts.
const STEM: &str = "omen_cli";

/// The wheel: `omen_cli-VERSION-py3-none-PLATFORM.whl`.
pub(crate) fn release(content: &Content) -> Result<ReleaseFile, Failure> {
    let version = &content.version;
    // Versions before a release are written in another way in Python.
    if !version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(format!("expected a version such as 1.2.3 for the wheel, found `{version}`").into());
    }
    let (data, info) = (format!("{STEM}-{version}.data"), format!("{STEM}-{version}.dist-info"));
    let tag = tag(content);
    let wheel = format!("Wheel-Version: 1.0\nGenerator: omen-dist {version}\nRoot-Is-Purelib: false\nTag: {tag}\n");
    let mut entries = vec![Entry::program(format!("{data}/scripts/omen"), content.binary.clone())];
    entries.push(Entry::text(format!("{info}/METADATA"), metadata(content)?));
    entries.push(Entry::text(format!("{info}/WHEEL"), wheel));
    entries.extend(licenses(content).map(|file| file.below(&format!("{info}/licenses"))));
    entries.extend(content.manual.iter().map(|page| page.below(&format!("{data}/data/share/man/man1"))));
    for (shell, script) in &content.completions {
        entries.extend(shell.installed.map(|file| Entry::text(format!("{data}/data/{file}"), script.as_str())));
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    entries.push(record(&entries, format!("{info}/RECORD"))?);
    Ok(ReleaseFile { name: format!("{STEM}-{version}-{tag}.whl"), bytes: zip(&entries)? })
}

/// Any Python 3 on the platform. `manylinux_2_34` says that a system needs glibc 2.34 or newer ([PEP 600]).
///
/// [PEP 600]: https://peps.python.org/pep-0600/
fn tag(content: &Content) -> String {
    let (major, minor) = content.system.glibc;
    format!("py3-none-manylinux_{major}_{minor}_{}", content.system.platform.wheel)
}

fn licenses(content: &Content) -> impl Iterator<Item = &Entry> {
    content.licenses.iter().chain([&content.third_party])
}

fn metadata(content: &Content) -> Result<String, Failure> {
    let Content { version, summary, license, readme, .. } = content;
    let mut text = format!("Metadata-Version: 2.4\nName: {NAME}\nVersion: {version}\nSummary: {summary}\n");
    writeln!(text, "License-Expression: {license}")?;
    for file in licenses(content) {
        writeln!(text, "License-File: {}", file.path)?;
    }
    write!(text, "Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}")?;
    Ok(text)
}

/// The list of all files with their hashes, by which installers verify and remove them.
fn record(entries: &[Entry], path: String) -> Result<Entry, Failure> {
    let mut text = String::new();
    for entry in entries {
        let hash = BASE64URL_NOPAD.encode(&Sha256::digest(&entry.bytes));
        writeln!(text, "{},sha256={hash},{}", entry.path, entry.bytes.len())?;
    }
    writeln!(text, "{path},,")?;
    Ok(Entry::text(path, text))
}

fn zip(entries: &[Entry]) -> Result<Vec<u8>, Failure> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for entry in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(entry.mode());
        zip.start_file(entry.path.as_str(), options)?;
        zip.write_all(&entry.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
