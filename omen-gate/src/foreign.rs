//! Text from outside, made fit for a message of ours.

/// Characters that are kept.
const KEPT: usize = 300;

/// Cuts a text to a bounded length and takes out what could steer a terminal or break a line.
pub(crate) fn bounded(text: &str) -> String {
    let mut chars = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut kept: String = chars.by_ref().take(KEPT).collect();
    if chars.next().is_some() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{KEPT, bounded};

    #[test]
    fn a_text_is_cut_by_characters_and_cannot_steer_a_terminal() {
        assert_eq!(bounded(" a\u{1b}[2J\nb "), "a [2J b");
        assert_eq!(bounded(&"ä".repeat(KEPT)), "ä".repeat(KEPT));
        assert_eq!(bounded(&"ä".repeat(KEPT + 1)), format!("{}…", "ä".repeat(KEPT)));
    }
}
