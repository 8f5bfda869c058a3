//! Texts of findings that formats share. They are single lines of visible characters, whatever a log contains.

use std::borrow::Cow;

use omen::finding::Finding;
use omen::render::human::clean;

/// Returns `MESSAGE (follows from line N)`.
pub(crate) fn message(finding: &Finding) -> Cow<'_, str> {
    let message = clean(&finding.diagnostic.message);
    match &finding.follows_from {
        Some(cause) => Cow::Owned(format!("{message} (follows from line {})", cause.line)),
        None => message,
    }
}

/// Returns the message and the help, separated by `between`.
pub(crate) fn message_and_help(finding: &Finding, between: &str) -> String {
    let mut text = message(finding).into_owned();
    if let Some(help) = &finding.diagnostic.help {
        text.push_str(between);
        text.push_str("help: ");
        text.push_str(&clean(help));
    }
    text
}

/// Returns codes such as `E4, INV-007`.
pub(crate) fn codes(finding: &Finding) -> String {
    let mut text = finding.diagnostic.code.as_str().to_owned();
    for also in &finding.diagnostic.also {
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
