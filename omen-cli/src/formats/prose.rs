//! Texts of findings that several formats share: single lines of visible characters, whatever a log contains.

use std::borrow::Cow;

use omen::render::human::clean;

use super::shown::AnyFinding;

/// Returns `MESSAGE (follows from line N)`.
pub(crate) fn message<'f>(finding: impl Into<AnyFinding<'f>>) -> Cow<'f, str> {
    let finding = finding.into();
    let message = clean(finding.message());
    match finding.follows_from() {
        Some(line) => Cow::Owned(format!("{message} (follows from line {line})")),
        None => message,
    }
}

/// Returns the message and the help text, separated by `between`.
pub(crate) fn message_and_help<'f>(finding: impl Into<AnyFinding<'f>>, between: &str) -> String {
    let finding = finding.into();
    let mut text = message(finding).into_owned();
    if let Some(help) = finding.help() {
        text.push_str(between);
        text.push_str("help: ");
        text.push_str(&clean(help));
    }
    text
}

/// Returns all codes of a finding, such as `E4, INV-007`.
pub(crate) fn codes<'f>(finding: impl Into<AnyFinding<'f>>) -> String {
    let finding = finding.into();
    let mut text = finding.code().as_str().to_owned();
    for also in finding.also() {
        text.push_str(", ");
        text.push_str(also.as_str());
    }
    text
}

/// Truncates a text to `most` characters; a truncated text ends in `…`.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("déjà", 4), "déjà");
        assert_eq!(cut("déjà", 2), "dé…");
        assert_eq!(cut("", 0), "");
    }
}
