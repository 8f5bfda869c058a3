//! Paths that a command line may contain, also after an option, in a list or as a URL; and comparison of paths by file.

use std::path::Path;

/// Maximum number of separators whose parts are combined; further parts are taken alone.
const MOST: usize = 32;

/// Returns the parts of a text that a program might use as a path: the text itself, `PATH` in `--key=PATH`, `-kPATH`,
/// `@PATH`, `name=key,source=PATH`, `PATH:/in/a/container` and `file://PATH`. Parts that name no file are harmless.
pub(super) fn named_paths(text: &str) -> Vec<String> {
    let cuts: Vec<_> = text.match_indices(is_separator).map(|(at, separator)| (at, at + separator.len())).collect();
    let mut found = Vec::new();
    let starts = std::iter::once(0).chain(cuts.iter().map(|(_, behind)| *behind));
    for (number, start) in starts.enumerate() {
        let ends = cuts.iter().skip(number).map(|(at, _)| *at).take(if number < MOST { MOST } else { 1 });
        for end in ends.chain([text.len()]) {
            add(&mut found, text.get(start..end).unwrap_or_default());
        }
    }
    found
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || "=,;:@?#&|<>()\"'`".contains(c)
}

fn add(found: &mut Vec<String>, part: &str) {
    if part.is_empty() {
        return;
    }
    found.push(part.to_owned());
    if let Some(rest) = part.strip_prefix('-').filter(|rest| !rest.starts_with('-')) {
        // Value attached to a short option.
        found.extend(rest.char_indices().nth(1).and_then(|(at, _)| rest.get(at..)).map(str::to_owned));
    }
    if let Some(path) = of_url(part) {
        found.push(decoded(path));
        found.push(path.to_owned());
    }
}

/// Returns the path in a `file` URL: `file:PATH`, `file:///PATH`, `file://localhost/PATH`. Some programs also read a
/// path from a text with an invalid host, such as `file://key`.
fn of_url(part: &str) -> Option<&str> {
    let rest = part.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:")).and_then(|_| part.get(5..))?;
    let Some(rest) = rest.strip_prefix("//") else { return Some(rest) };
    let host = rest.get(..9).filter(|host| host.eq_ignore_ascii_case("localhost"));
    Some(host.and_then(|_| rest.get(9..)).filter(|path| path.starts_with('/')).unwrap_or(rest))
}

/// Percent-decodes a path. A path that is not UTF-8 names another file.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns whether two paths lead to the same file, following links. A file that does not exist is compared by its folder.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (a.metadata(), b.metadata()) {
        use std::os::unix::fs::MetadataExt as _;

        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    let whole = |path: &Path| match path.canonicalize() {
        Ok(path) => Some(path),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(folder.canonicalize().ok()?.join(path.file_name()?))
        }
    };
    whole(a).is_some_and(|a| whole(b) == Some(a))
}

#[cfg(test)]
mod tests {
    use super::named_paths;

    #[test]
    fn a_path_is_found_however_a_command_line_names_it() {
        for text in [
            "/k/audit.key",
            "--key=/k/audit.key",
            "-k/k/audit.key",
            "-k=/k/audit.key",
            "@/k/audit.key",
            "--form=key=@/k/audit.key;type=text",
            "type=bind,source=/k/audit.key,target=/key",
            "/k/audit.key:/key:ro",
            "file:///k/audit.key",
            "FILE://localhost/k/audit.key",
            "file:/k/audit.key",
            "file:///k/%61udit%2Ekey",
            "--url=file:///k/audit.key?mode=ro#x",
            "cat '/k/audit.key' | head",
            "<(cat /k/audit.key)",
        ] {
            assert!(named_paths(text).iter().any(|path| path == "/k/audit.key"), "{text}: {:?}", named_paths(text));
        }
        assert!(named_paths("file://audit.key").iter().any(|path| path == "audit.key"));
        assert!(named_paths("/k=1/audit,key").iter().any(|path| path == "/k=1/audit,key"));
    }

    #[test]
    fn a_long_text_has_a_part_for_each_separator_and_little_more() {
        let text = "a=".repeat(10_000);
        let found = named_paths(&(text + "/k/audit.key"));
        assert!(found.len() < 30_000 && found.iter().any(|path| path == "/k/audit.key"), "{}", found.len());
    }
}
