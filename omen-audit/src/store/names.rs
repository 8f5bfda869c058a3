//! Names of log files. The first file has the name of the log; `audit.000002.jsonl` continues `audit.jsonl`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Returns the path of the log file with a number.
#[must_use]
pub fn numbered(log: impl AsRef<Path>, number: u32) -> PathBuf {
    let log = log.as_ref();
    if number <= 1 {
        return log.to_owned();
    }
    let mut name = log.file_stem().map(OsString::from).unwrap_or_default();
    name.push(format!(".{number:06}"));
    if let Some(extension) = log.extension() {
        name.push(".");
        name.push(extension);
    }
    log.with_file_name(name)
}

/// Returns the path of the first file of the log that a file belongs to.
#[must_use]
pub fn log_of(file: impl AsRef<Path>) -> PathBuf {
    parse(file.as_ref()).0
}

/// Splits the path of a log file into the log and the number.
pub(crate) fn parse(path: &Path) -> (PathBuf, u32) {
    let first = || (path.to_owned(), 1);
    let (Some(stem), extension) = (path.file_stem().and_then(|stem| stem.to_str()), path.extension()) else {
        return first();
    };
    // Without an extension, the number takes its place.
    let (stem, digits, extension) = match (stem.rsplit_once('.'), extension.and_then(|extension| extension.to_str())) {
        (Some((stem, digits)), Some(extension)) if number(digits).is_some() => (stem, digits, Some(extension)),
        (_, Some(digits)) if number(digits).is_some() => (stem, digits, None),
        _ => return first(),
    };
    match number(digits) {
        Some(number) => {
            let name = extension.map_or_else(|| stem.to_owned(), |extension| format!("{stem}.{extension}"));
            (path.with_file_name(name), number)
        }
        None => first(),
    }
}

fn number(digits: &str) -> Option<u32> {
    let number: u32 = digits.parse().ok()?;
    (number > 1 && format!("{number:06}") == digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_its_number_are_found_again() {
        for log in ["audit.jsonl", "logs/audit.jsonl", "/a.b/audit", "x.y.z", ".hidden", "audit.12.jsonl"] {
            for number in [1, 2, 17, 999_999, 1_000_000] {
                let path = numbered(log, number);
                assert_eq!(parse(&path), (PathBuf::from(log), number), "{}", path.display());
            }
        }
        for other in
            ["audit.000001.jsonl", "audit.2.jsonl", "audit.0000002.jsonl", "audit.+00002.jsonl", "audit.00000x"]
        {
            assert_eq!(parse(Path::new(other)), (PathBuf::from(other), 1));
        }
    }
}
