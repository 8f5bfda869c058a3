//! Commands that are printed, to be run as they are.

/// A word as a shell reads it.
pub(super) fn word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn a_word_stays_one_word() {
        for (plain, quoted) in
            [("a/b-c.toml", "a/b-c.toml"), ("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("$HOME;", "'$HOME;'")]
        {
            assert_eq!(word(plain), quoted);
        }
    }
}
