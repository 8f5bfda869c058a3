//! Patterns: the only form of regular expression that the schemas use.
//!
//! Identifiers have patterns such as `^pkt_[a-zA-Z0-9_-]+$`. Generated code checks them without a regular-expression
//! engine, so patterns are parsed once, in this module.

use std::iter::Peekable;
use std::str::Chars;

/// Pattern `^literal[class]+$`: a prefix, followed by one or more characters of a class.
///
/// ```
/// use omen_codegen::pattern::Pattern;
///
/// let pattern = Pattern::parse("^pkt_[a-z0-9-]+$")?;
/// assert!(pattern.holds("pkt_a-1"));
/// assert!(!pattern.holds("pkt_"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Prefix of every match: ASCII letters, digits and `_`; may be empty.
    pub prefix: String,
    /// Permitted characters after the prefix, as inclusive ranges in the order of the pattern; never empty. A single
    /// character is represented as a range.
    pub ranges: Vec<(char, char)>,
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The reason why `text` does not have the form `^literal[class]+$`. The literal may consist of ASCII letters, digits and
    /// `_`; the class of ASCII letters, digits, `_`, ranges such as `a-z`, and at most one `-`, which must come last.
    pub fn parse(text: &str) -> Result<Self, String> {
        let body = text.strip_prefix('^').ok_or("it does not start with `^`")?;
        let body = body.strip_suffix("]+$").ok_or("it does not end with `]+$`")?;
        let (prefix, class) = body.split_once('[').ok_or("it has no character class")?;
        if let Some(odd) = prefix.chars().find(|c| !is_word(*c)) {
            return Err(format!("`{odd}` before the class is not a letter, digit or `_`"));
        }
        let ranges = parse_class(class)?;
        Ok(Self { prefix: prefix.to_owned(), ranges })
    }

    /// Returns whether all of `text` matches. A trailing newline does not match (D41).
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        text.strip_prefix(&self.prefix).is_some_and(|rest| {
            !rest.is_empty() && rest.chars().all(|c| self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)))
        })
    }
}

fn parse_class(class: &str) -> Result<Vec<(char, char)>, String> {
    let mut ranges = Vec::new();
    let mut chars = class.chars().peekable();
    while let Some(low) = chars.next() {
        if low == '-' {
            if chars.peek().is_some() {
                return Err("`-` in the class is neither last nor between two characters".to_owned());
            }
            ranges.push((low, low));
        } else if is_word(low) {
            ranges.push((low, range_end(low, &mut chars)?));
        } else {
            return Err(format!("`{low}` in the class is not an ASCII letter, digit, `_` or `-`"));
        }
    }
    if ranges.is_empty() { Err("its class is empty".to_owned()) } else { Ok(ranges) }
}

/// Returns the upper end of the range that starts with `low`, or `low` if no range follows.
fn range_end(low: char, chars: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    let mut ahead = chars.clone();
    if ahead.next() != Some('-') {
        return Ok(low);
    }
    // A `-` at the end is an ordinary character.
    let Some(high) = ahead.next() else { return Ok(low) };
    *chars = ahead;
    if same_kind(low, high) && low <= high {
        Ok(high)
    } else {
        Err(format!("`{low}-{high}` is not a range of digits or of letters of one case"))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn same_kind(low: char, high: char) -> bool {
    [char::is_ascii_digit, char::is_ascii_lowercase, char::is_ascii_uppercase]
        .iter()
        .any(|of_kind| of_kind(&low) && of_kind(&high))
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[track_caller]
    fn check(pattern: &str, holds: &[&str], refuses: &[&str]) {
        let parsed = Pattern::parse(pattern);
        let held = |text: &str| parsed.as_ref().map(|pattern| pattern.holds(text));
        for text in holds {
            assert_eq!(held(text), Ok(true), "{text:?}");
        }
        for text in refuses {
            assert_eq!(held(text), Ok(false), "{text:?}");
        }
    }

    #[test]
    fn supported_patterns() {
        check(
            "^pkt_[a-zA-Z0-9_-]+$",
            &["pkt_a", "pkt_-", "pkt__", "pkt_aZ09-_"],
            &["", "pkt_", "pkt", "PKT_a", "pkt_a ", "pkt_a\n", " pkt_a", "pkt_ä", "xpkt_a"],
        );
        check("^[a]+$", &["a", "aaa"], &["", "b", "ab", "-"]);
        check("^x[a-c-]+$", &["x-", "xb-"], &["x", "xd"]);
        check("^x[-]+$", &["x-"], &["x", "xa"]);
        check("^x[0-0z]+$", &["x0z"], &["x1"]);
    }

    #[test]
    fn unsupported_patterns() {
        for (pattern, why) in [
            ("pkt_[a-z]+$", "`^`"),
            ("^pkt_[a-z]+", "`]+$`"),
            ("^pkt_[a-z]*$", "`]+$`"),
            ("^pkt_$", "`]+$`"),
            ("^pkt_a]+$", "no character class"),
            ("^pkt_.[a-z]+$", "`.`"),
            ("^pkt_\\d[a-z]+$", "`\\`"),
            ("^ä[a-z]+$", "`ä`"),
            ("^x[]+$", "empty"),
            ("^x[^a]+$", "`^`"),
            ("^x[\\w]+$", "`\\`"),
            ("^x[a][b]+$", "`]`"),
            ("^x[-a]+$", "`-`"),
            ("^x[a-c-e]+$", "`-`"),
            ("^x[z-a]+$", "`z-a`"),
            ("^x[A-z]+$", "`A-z`"),
            ("^x[a-é]+$", "`a-é`"),
            ("^x[ä]+$", "`ä`"),
        ] {
            let outcome = Pattern::parse(pattern);
            assert!(outcome.as_ref().is_err_and(|e| e.contains(why)), "{pattern}: {outcome:?}");
        }
    }
}
