//! Words of commands: how a shell reads them, and which start another program, which a later word names.

use std::path::Path;

/// Whether a word of a command is such a program, or a word that belongs to one.
pub(super) fn is_launcher(word: &str) -> bool {
    LAUNCHERS.contains(&stem(word))
}

/// The name of a file without its folder and ending.
pub(super) fn stem(word: &str) -> &str {
    Path::new(word).file_stem().and_then(|stem| stem.to_str()).unwrap_or(word)
}

const LAUNCHERS: &[&str] = &[
    "npx", "npm", "pnpm", "yarn", "bunx", "bun", "deno", "node", "uvx", "uv", "pipx", "python", "python3", "run",
    "exec", "dlx", "sh", "bash", "env",
];

/// A word as a shell reads it.
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
