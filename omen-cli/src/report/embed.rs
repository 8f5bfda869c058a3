//! JSON for embedding in an HTML page: no text in it can end the enclosing element or begin a comment.

use std::io;

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// Serializes a value as JSON without `<`, `>` and `&`, which occur only in texts, where they are escaped. The same applies to
/// the two Unicode line separators that old scripts treat as line ends.
pub(super) fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, HtmlSafeFormatter))?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

struct HtmlSafeFormatter;

impl Formatter for HtmlSafeFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (before, from) = rest.split_at(at);
            let mut chars = from.chars();
            let escaped = chars.next().map_or(0, u32::from);
            writer.write_all(before.as_bytes())?;
            write!(writer, "\\u{escaped:04x}")?;
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + io::Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        serde_json::ser::CompactFormatter.write_char_escape(writer, escape)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_can_end_the_element_and_the_text_comes_back() {
        let text = "</script><!-- <script> ]]> & \u{2028}\u{2029} \"\\\u{0} é😀";
        let embedded = json(&[text]).unwrap();
        assert!(!embedded.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{embedded}");
        let back: Vec<String> = serde_json::from_str(&embedded).unwrap();
        assert_eq!(back, [text]);
    }
}
