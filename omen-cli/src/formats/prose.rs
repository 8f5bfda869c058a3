//! The texts of findings that formats have in common. Whatever a log contains, they are one line of visible characters.

use std::borrow::Cow;

use omen::finding::Finding;
use omen::render::human::clean;

/// `MESSAGE (follows from line N)`
pub(crate) fn message(finding: &Finding) -> Cow<'_, str> {
    let message = clean(&finding.diagnostic.message);
    match &finding.follows_from {
        Some(cause) => Cow::Owned(format!("{message} (follows from line {})", cause.line)),
        None => message,
    }
}

/// The message, and the help behind `between`.
pub(super) fn message_and_help(finding: &Finding, between: &str) -> String {
    let mut text = message(finding).into_owned();
    if let Some(help) = &finding.diagnostic.help {
        text.push_str(between);
        text.push_str("help: ");
        text.push_str(&clean(help));
    }
    text
}

/// `E4, INV-007`
pub(crate) fn codes(finding: &Finding) -> String {
    let mut text = finding.diagnostic.code.as_str().to_owned();
    for also in &finding.diagnostic.also {
        text.push_str(", ");
        text.push_str(also.as_str());
    }
    text
}

/// At most so many characters of a text; what was cut ends in `…`.
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
