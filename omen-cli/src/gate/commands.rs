//! Words of command lines: quoting for a shell, and detection of launchers, whose program is named by a later word.

use std::path::Path;

/// Returns whether a word names a launcher, or is a subcommand of one.
pub(super) fn is_launcher(word: &str) -> bool {
    LAUNCHERS.contains(&stem(word))
}

/// Returns a file name without folder and extension.
pub(super) fn stem(word: &str) -> &str {
    Path::new(word).file_stem().and_then(|stem| stem.to_str()).unwrap_or(word)
}

const LAUNCHERS: &[&str] = &[
    "npx", "npm", "pnpm", "yarn", "bunx", "bun", "deno", "node", "uvx", "uv", "pipx", "python", "python3", "run",
    "exec", "dlx", "sh", "bash", "env",
];

/// Quotes a word for a POSIX shell, if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_stays_one_word() {
        for (plain, expected) in
            [("a/b-c.toml", "a/b-c.toml"), ("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("$HOME;", "'$HOME;'")]
        {
            assert_eq!(quoted(plain), expected);
        }
    }
}
