//! Positions of findings for other programs: paths relative to the working folder, URIs, and columns.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use super::shown::AnyFinding;
use crate::input::find::absolute;

/// Returns whether a path stands for standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns a path as other programs in a checkout name it: without `./`, and relative to the working folder if inside it.
pub(super) fn relative(path: &Path) -> PathBuf {
    let folder = std::env::current_dir().ok();
    let below = folder.and_then(|folder| path.strip_prefix(folder).ok()).unwrap_or(path);
    let plain: PathBuf = below.components().filter(|component| !matches!(component, Component::CurDir)).collect();
    if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain }
}

/// Returns the path, relative to the working folder if inside it, with `/` between the parts on every system.
pub(super) fn portable(path: &Path) -> String {
    let parts: Vec<_> = relative(path).components().map(part).collect();
    // The root component is empty, and follows a drive on Windows.
    parts.join("/").replace("//", "/")
}

/// Returns a path relative to a folder, such as `../logs/a.jsonl`: it is the same in each working directory and each checkout.
/// It is absolute if the two have only the root in common.
pub(crate) fn name_from(folder: &Path, path: &Path) -> String {
    if is_stdin(path) {
        return "-".to_owned();
    }
    let (folder, path) = (absolute(folder), absolute(path));
    let common = path.components().zip(folder.components()).take_while(|(one, other)| one == other).count();
    let common = if common > 1 { common } else { 0 };
    let up = if common > 0 { folder.components().count() - common } else { 0 };
    let parts = (0..up).map(|_| "..".to_owned()).chain(path.components().skip(common).map(part));
    parts.collect::<Vec<_>>().join("/").replace("//", "/")
}

fn part(component: Component<'_>) -> String {
    match component {
        Component::RootDir => String::new(),
        other => other.as_os_str().to_string_lossy().into_owned(),
    }
}

/// Returns a path as a URI reference (RFC 3986): relative to the working folder, or absolute.
pub(super) fn uri(path: &Path) -> String {
    let path = relative(path);
    let mut uri = String::new();
    if path.is_absolute() {
        uri.push_str("file://");
    }
    for (at, component) in path.components().enumerate() {
        match component {
            Component::RootDir => continue,
            // Yields `file:///C:/…`.
            Component::Prefix(prefix) => {
                uri.push('/');
                uri.push_str(&prefix.as_os_str().to_string_lossy());
                continue;
            }
            _ if at > 0 => uri.push('/'),
            _ => {}
        }
        for byte in component.as_os_str().as_encoded_bytes() {
            // An unescaped colon could be read as the end of a scheme.
            if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
                uri.push(char::from(*byte));
            } else {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// Returns the line at which to show a finding: its own line, or else that of its directive.
pub(super) fn line(finding: AnyFinding<'_>) -> Option<u64> {
    finding.own_line().or_else(|| finding.packet()?.directive_line)
}

/// Returns the column after the last character of a finding's span, in characters, counted from 1.
pub(super) fn end_column(finding: AnyFinding<'_>, line: Option<&str>) -> Option<u64> {
    let start = finding.column()?;
    let inside = line?.get(finding.span()?)?;
    Some(start + inside.chars().count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn paths_are_relative_where_they_can_be() {
        let below = std::env::current_dir().unwrap_or_default().join("logs/a.jsonl");
        for path in [Path::new("logs/a.jsonl"), Path::new("./logs//./a.jsonl"), &below] {
            assert_eq!((portable(path), uri(path)), ("logs/a.jsonl".to_owned(), "logs/a.jsonl".to_owned()));
        }
        assert_eq!(portable(Path::new("../a.jsonl")), "../a.jsonl");
        assert_eq!((portable(Path::new("./")), uri(Path::new("."))), (".".to_owned(), ".".to_owned()));
        assert_eq!(portable(Path::new("/a/b.jsonl")), "/a/b.jsonl");
        assert_eq!(uri(Path::new("/a b/%.jsonl")), "file:///a%20b/%25.jsonl");
    }

    #[test]
    #[cfg(unix)]
    fn names_from_a_folder_do_not_depend_on_the_working_directory() {
        let here = std::env::current_dir().unwrap_or_default();
        for (folder, path, name) in [
            ("", "logs/a.jsonl", "logs/a.jsonl"),
            (".", "./logs/../a.jsonl", "a.jsonl"),
            ("ci", "logs/a.jsonl", "../logs/a.jsonl"),
            ("ci", "-", "-"),
            ("/srv/ci", "/var/log/a.jsonl", "/var/log/a.jsonl"),
        ] {
            assert_eq!(name_from(Path::new(folder), Path::new(path)), name);
        }
        assert_eq!(name_from(&here, Path::new("a.jsonl")), "a.jsonl");
    }

    #[test]
    #[cfg(unix)]
    fn every_byte_of_a_name_has_a_place_in_a_uri() {
        use std::os::unix::ffi::OsStrExt as _;

        let name = std::ffi::OsStr::from_bytes(b"c:x#\xff\n[\xc3\xa9]");
        assert_eq!(uri(Path::new(name)), "c%3Ax%23%FF%0A%5B%C3%A9%5D");
    }
}
