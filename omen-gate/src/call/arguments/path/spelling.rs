//! Texts that every program reads as the same path.

use icu_normalizer::ComposingNormalizerBorrowed;
use omen_types::scalar::invisible::is_invisible;

/// Refuses a text that a program may decode, expand or split differently from the file system, and returns the reason.
pub(super) fn plain(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.len() > MAX_BYTES {
        return Err("it is longer than 4096 bytes");
    }
    if text.chars().any(is_invisible) {
        return Err("it contains a control character or an invisible one");
    }
    if let Some((_, why)) = SPECIAL.iter().find(|(special, _)| text.contains(*special)) {
        return Err(why);
    }
    if text.starts_with('~') {
        return Err("it begins with a `~`, which some programs expand to a home folder");
    }
    if text.starts_with("//") {
        return Err("it begins with two slashes, which some systems interpret as another machine");
    }
    // On Windows, a colon marks a drive or a stream; elsewhere, the scheme of a URL.
    let before_slash = text.split('/').next().unwrap_or_default();
    if before_slash.contains(':') || (cfg!(windows) && text.contains(':')) {
        return Err("it has a `:` before its first slash, like a drive letter or the scheme of a URL");
    }
    if text.chars().filter(|c| !c.is_ascii()).any(becomes_special) {
        return Err(
            "it contains a character that some programs convert to a dot, a slash or another special character",
        );
    }
    let is_pattern = text.contains(['{', '}', '[', ']']);
    if is_pattern && text.split('/').any(|part| part.contains("..")) {
        return Err("it contains both brackets and `..`, which some programs interpret as a pattern");
    }
    let mut parts = text.split('/');
    if parts.any(|part| !matches!(part, "." | "..") && (part.ends_with('.') || part.trim() != part)) {
        return Err("a name in it begins or ends with whitespace, or ends with a dot, which some systems remove");
    }
    Ok(())
}

/// Returns whether Unicode normalization turns a character into one with a meaning in paths, such as `．`, `／` or `‥`.
fn becomes_special(c: char) -> bool {
    let mut buffer = [0; 4];
    let form = ComposingNormalizerBorrowed::new_nfkc();
    form.normalize(c.encode_utf8(&mut buffer)).contains(|c: char| "./\\:%~$*?".contains(c))
}

/// Characters with a special meaning to some program.
const SPECIAL: [(char, &str); 5] = [
    ('\\', "it contains a backslash, which some programs treat as a slash"),
    ('%', "it contains a percent sign, which some programs decode as part of an escape"),
    ('$', "it contains a dollar sign, which some programs expand as a variable"),
    ('*', "it contains a `*`, which some programs interpret as a pattern"),
    ('?', "it contains a `?`, which some programs interpret as a pattern or a query"),
];

/// Maximum path length in bytes, the same as in Linux.
const MAX_BYTES: usize = 4096;
