//! Detection of streams that are not JSON Lines, from their first bytes.
//!
//! Otherwise, each line of a stream in another format would have a finding, none of which names the problem. Only formats
//! that cannot be confused with a log with a few broken lines are recognized; everything else is checked line by line.

use std::mem;

use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_schema::json::StringTracker;
use omen_types::{Code, Diagnostic};

/// State of the detection.
#[derive(Debug)]
pub(super) enum Head {
    /// The bytes so far do not show the format yet.
    Open(Vec<u8>),
    /// The stream is checked line by line.
    Lines,
    /// The stream has another format, which has been reported.
    Other,
}

impl Default for Head {
    fn default() -> Self {
        Self::Open(Vec::new())
    }
}

/// Action for the next bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Check these earlier bytes, then the next ones.
    Check(Vec<u8>),
    /// Wait for more bytes.
    Keep,
    /// Report the format that these bytes show. The rest of the stream is not checked.
    Report(StreamFormat, Vec<u8>),
    /// Ignore the bytes, because the format has been reported.
    Skip,
}

/// Format other than JSON Lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamFormat {
    Gzip,
    Zstd,
    Compressed,
    Utf16,
    Markup,
    Array,
    Indented,
}

impl Head {
    /// Writes the state to a snapshot.
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        let (form, kept) = match self {
            Self::Open(kept) => (0, kept.as_slice()),
            Self::Lines => (1, &[][..]),
            Self::Other => (2, &[][..]),
        };
        writer.byte(form);
        writer.bytes(kept);
    }

    /// Reads the state from a snapshot.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        match (reader.byte(), reader.bytes()) {
            (0, kept) => Self::Open(kept.to_vec()),
            (1, _) => Self::Lines,
            _ => Self::Other,
        }
    }

    /// Returns whether the stream is checked line by line.
    pub(super) fn is_lines(&self) -> bool {
        matches!(self, Self::Lines)
    }

    /// Returns whether the rest of the stream is ignored.
    pub(super) fn is_other(&self) -> bool {
        matches!(self, Self::Other)
    }

    /// Processes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Next {
        let kept = match self {
            Self::Lines => return Next::Check(Vec::new()),
            Self::Other => return Next::Skip,
            Self::Open(kept) => kept,
        };
        let look = if kept.is_empty() {
            look(bytes, false)
        } else {
            kept.extend_from_slice(bytes);
            look(kept, false)
        };
        let mut kept = mem::take(kept);
        match look {
            Look::More => {
                if kept.is_empty() {
                    kept.extend_from_slice(bytes);
                }
                *self = Self::Open(kept);
                Next::Keep
            }
            Look::Lines => {
                *self = Self::Lines;
                kept.truncate(kept.len().saturating_sub(bytes.len()));
                Next::Check(kept)
            }
            Look::Other(form, length) => {
                *self = Self::Other;
                let begin = if kept.is_empty() { bytes } else { &kept };
                Next::Report(form, begin.get(..length).unwrap_or_default().to_vec())
            }
        }
    }

    /// Processes the end of the stream, and returns what still has to be checked.
    pub(super) fn end(&mut self) -> Next {
        match mem::replace(self, Self::Lines) {
            Self::Lines => Next::Check(Vec::new()),
            Self::Other => Next::Skip,
            Self::Open(kept) => match look(&kept, true) {
                Look::Other(form, _) => Next::Report(form, kept),
                Look::More | Look::Lines => Next::Check(kept),
            },
        }
    }
}

/// Maximum number of leading bytes that are inspected; the first lines of indented JSON are short.
const LONGEST: usize = 64 * 1024;

#[derive(Debug, PartialEq, Eq)]
enum Look {
    More,
    Lines,
    /// Another format, and the number of bytes that showed it.
    Other(StreamFormat, usize),
}

/// Detects the format from the first bytes of a stream.
fn look(bytes: &[u8], is_end: bool) -> Look {
    for (magic, form) in MAGIC {
        if bytes.starts_with(magic) {
            return Look::Other(*form, magic.len());
        }
        if magic.starts_with(bytes) && !is_end {
            return Look::More;
        }
    }
    let Some(begin) = bytes.iter().position(|byte| !byte.is_ascii_whitespace()) else {
        return if is_end || bytes.len() > LONGEST { Look::Lines } else { Look::More };
    };
    let text = bytes.get(begin..).unwrap_or_default();
    let blanks = text.iter().skip(1).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match (text.first(), text.get(1 + blanks)) {
        (Some(b'<'), _) => return Look::Other(StreamFormat::Markup, begin + 1),
        (Some(b'[' | b'{'), None) if !is_end => return Look::More,
        (Some(b'{' | b'['), Some(0)) => return Look::Other(StreamFormat::Utf16, begin + blanks + 2),
        (Some(b'{' | b'['), _) => {}
        _ => return Look::Lines,
    }
    let is_array = (text.first(), text.get(1 + blanks)) == (Some(&b'['), Some(&b'{'));
    let Some(end) = memchr::memchr(b'\n', text) else {
        return match is_end || text.len() > LONGEST {
            true if is_array && !is_complete(text) => Look::Other(StreamFormat::Array, begin + blanks + 2),
            true => Look::Lines,
            false => Look::More,
        };
    };
    let (first, rest) = text.split_at(end);
    let first = first.trim_ascii_end();
    // If the first line is complete, the stream consists of lines, whatever that line contains (D85).
    if is_complete(first) {
        return Look::Lines;
    }
    if is_array {
        return Look::Other(StreamFormat::Array, begin + blanks + 2);
    }
    if !matches!(first.last(), Some(b'{' | b'[' | b',')) {
        return Look::Lines;
    }
    // Next line that is not blank, with its indentation.
    let Some(next) = rest.iter().position(|byte| !byte.is_ascii_whitespace()) else {
        return if is_end || rest.len() > LONGEST { Look::Lines } else { Look::More };
    };
    let is_indented =
        next.checked_sub(1).and_then(|before| rest.get(before)).is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    let form = if text.starts_with(b"[") { StreamFormat::Array } else { StreamFormat::Indented };
    let length = begin + end + next + 1;
    match (first, rest.get(next)) {
        (b"[", Some(b'{' | b']')) | (b"{", Some(b'"' | b'}')) => Look::Other(form, length),
        (_, Some(b'"' | b'{' | b'[' | b']' | b'}')) if is_indented => Look::Other(form, length),
        _ => Look::Lines,
    }
}

/// Returns whether an object or array ends on the line on which it begins.
fn is_complete(line: &[u8]) -> bool {
    let (mut depth, mut strings) = (0_usize, StringTracker::default());
    line.iter().any(|byte| {
        match byte {
            _ if !strings.step(*byte) => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return true,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        false
    })
}

/// Returns whether a stream with these first bytes may consist of lines.
pub(super) fn may_be_lines(begin: &[u8]) -> bool {
    matches!(look(begin, true), Look::Lines)
}

/// Magic bytes of files in other formats.
const MAGIC: &[(&[u8], StreamFormat)] = &[
    (b"\x1f\x8b", StreamFormat::Gzip),
    (b"\x28\xb5\x2f\xfd", StreamFormat::Zstd),
    (b"BZh", StreamFormat::Compressed),
    (b"PK\x03\x04", StreamFormat::Compressed),
    (b"\xfd7zXZ\x00", StreamFormat::Compressed),
    (b"\xff\xfe", StreamFormat::Utf16),
    (b"\xfe\xff", StreamFormat::Utf16),
    (b"\0{", StreamFormat::Utf16),
    (b"\0[", StreamFormat::Utf16),
];

impl StreamFormat {
    pub(super) fn finding(self) -> Diagnostic {
        let (what, help) = match self {
            Self::Gzip => ("compressed with gzip", "decompress it first: `gzip -dc FILE | omen check`"),
            Self::Zstd => ("compressed with zstd", "decompress it first: `zstd -dc FILE | omen check`"),
            Self::Compressed => ("compressed", "decompress it first"),
            Self::Utf16 => {
                ("UTF-16", "convert it to UTF-8 without a byte-order mark: `iconv -t UTF-8 FILE | omen check`")
            }
            Self::Markup => ("HTML or XML", "check the log itself; a server may have sent an error page in its place"),
            Self::Array => ("a JSON array", ONE_PER_LINE),
            Self::Indented => ("indented JSON", ONE_PER_LINE),
        };
        Diagnostic::error(
            Code::Json,
            format!("expected JSON Lines, found {what}; nothing else in this input was checked"),
        )
        .help(help)
    }
}

const ONE_PER_LINE: &str =
    "write each packet on one line, such as with `jq -c`, or check the input as it is with `omen check --input array`";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: impl AsRef<[u8]>, form: Option<StreamFormat>) {
        let text = text.as_ref();
        for chunk in [1, 2, 7, text.len().max(1)] {
            let (mut head, mut found) = (Head::default(), None);
            let mut passed = Vec::new();
            let mut next = |next, bytes: &[u8]| match next {
                Next::Check(before) => passed.extend([&before, bytes].concat()),
                Next::Report(form, _) => found = Some(form),
                Next::Keep | Next::Skip => {}
            };
            for bytes in text.chunks(chunk) {
                next(head.take(bytes), bytes);
            }
            next(head.end(), &[]);
            assert_eq!(found, form, "chunks of {chunk}: {:?}", String::from_utf8_lossy(text));
            assert_eq!(passed, if form.is_none() { text } else { &[] }, "chunks of {chunk}");
        }
    }

    #[test]
    fn other_forms_are_recognized() {
        check(b"\x1f\x8b\x08\x00", Some(StreamFormat::Gzip));
        check(b"\x28\xb5\x2f\xfd\x04", Some(StreamFormat::Zstd));
        check(b"PK\x03\x04", Some(StreamFormat::Compressed));
        check(b"\xff\xfe{\0\"\0", Some(StreamFormat::Utf16));
        check(b"{\0\"\0h\0", Some(StreamFormat::Utf16));
        check(b"\0{\0\"", Some(StreamFormat::Utf16));
        check("<!DOCTYPE html>\n<html>", Some(StreamFormat::Markup));
        check("[{\"header\":{}}", Some(StreamFormat::Array));
        check("[{\"header\":{}},\n{\"header\":{}}]\n", Some(StreamFormat::Array));
        check("[\n  {\"header\":{}},\n", Some(StreamFormat::Array));
        check("[\n{\"header\":{}}\n]", Some(StreamFormat::Array));
        check("[\n]\n", Some(StreamFormat::Array));
        check("\n{\n  \"header\": {\n    \"packet_id\": \"pkt_1\"\n", Some(StreamFormat::Indented));
        check("{\n\"header\": {\n", Some(StreamFormat::Indented));
        check("{\n}\n", Some(StreamFormat::Indented));
        check("{\r\n\r\n\t\r\n}", Some(StreamFormat::Indented));
        check("{ \"header\": {\n    \"packet_id\": \"pkt_1\" } }\n", Some(StreamFormat::Indented));
    }

    #[test]
    fn lines_are_lines_even_if_some_are_broken() {
        for text in [
            "",
            "\n \n",
            "{}\n{}\n",
            "x\n{\n}\n",
            "[]\n{}\n",
            "[{}]\n{}\n",
            "[{\"header\":{}}]",
            "[{\"header\":\"]\\\"]\"},{}]  \r\n{}\n",
            "{\n",
            "{",
            "[",
            "{\n{\"header\":{}}\n",
            "{\"header\":{\n{\"header\":{}}\n",
            "{\"header\":{\"packet_id\":\"pkt_1\",\n{\"header\":{}}\n",
            "{\"header\":{\"packet_id\":\"pkt_1\",\n\"packet_type\":\"x\"}}\n{\"header\":{}}\n",
            "{\"header\":{\"packet_id\"\n  {\"header\":{}}\n",
            "\u{feff}{\n}\n",
            "B\n",
            "BZ",
            "P",
            "\0\n",
        ] {
            check(text, None);
        }
    }
}
