//! Partial writes: the start of one line and nothing else (D57).
//!
//! Whether bytes at the end of a log are such a start is decided against the single canonical text of an entry: the
//! order of its members, the number following that of the last entry, the forms of time and seal, and canonical
//! strings, numbers and keys. If the rest can be inferred, the seal is checked too. Only one forgery is undetectable: a
//! start that was made up without the key and ends before its seal can be checked.

use std::cmp::Ordering;

use omen_types::{CorrelationId, PacketId};
use serde_json::Value;

use crate::chain::Flaw;
use crate::chain::entry::{Entry, Label};
use crate::key::{Key, Mac};
use omen_base::{MAX_DEPTH, TurnId, canonical};

/// Checks that bytes without a line break at the end of a log are the start of the next entry's line. The entry may be
/// in the group that begins with the entry `group`.
pub(super) fn judge(tail: &[u8], key: &Key, previous: &Mac, sequence: u64, group: Option<u64>) -> Result<(), Flaw> {
    let mut reader = Reader { text: tail, at: 0 };
    let there = match reader.entry(sequence, group) {
        Ok(()) => END.len(),
        Err(ParseStop::Rest(there)) => there,
        Err(ParseStop::End) => return Ok(()),
        Err(ParseStop::Wrong(expected)) => return Err(Flaw::NotStart { at: reader.at as u64, expected }),
    };
    // All missing bytes are known, so the seal can be checked.
    let whole = [tail, END.get(there..).unwrap_or_default()].concat();
    Entry::judge(&whole, key, previous, sequence).map(drop)
}

/// Reason to stop parsing.
enum ParseStop {
    /// The bytes end, and all of them are valid.
    End,
    /// The bytes end within [`END`], after this many of its bytes.
    Rest(usize),
    /// A byte is invalid. Holds the expected text.
    Wrong(String),
}

type Progress<T> = Result<T, ParseStop>;

struct Reader<'t> {
    text: &'t [u8],
    /// Number of valid bytes parsed so far.
    at: usize,
}

impl Reader<'_> {
    fn entry(&mut self, sequence: u64, group: Option<u64>) -> Progress<()> {
        self.literal(b"{")?;
        let names = ["\"correlation_id\":", "\"data\":"];
        let of_an_episode = self.one_of(&names)? == 0;
        if of_an_episode {
            self.string_as(|text| text.parse::<CorrelationId>().is_ok(), "a correlation id")?;
            self.literal(b",\"data\":")?;
        }
        self.object(MAX_DEPTH - 1)?;
        match group {
            Some(first) => {
                let member = format!(",\"group\":{first},\"kind\":");
                self.one_of(&[&member, ",\"kind\":"])?;
            }
            None => self.literal(b",\"kind\":")?,
        }
        let kinds = Label::ALL.into_iter().filter(|kind| kind.is_of_a_turn() || !of_an_episode);
        let kinds: Vec<_> = kinds.filter_map(|kind| Some((kind.text()?, kind.is_of_a_turn()))).collect();
        let kind = self.one_of(&kinds.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>())?;
        let of_a_turn = kinds.get(kind).is_some_and(|(_, of_a_turn)| *of_a_turn);
        self.literal(b",\"mac\":\"")?;
        for _ in 0..64 {
            self.byte(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'), "a lower-case hexadecimal digit")?;
        }
        self.literal(b"\",")?;
        if of_a_turn && self.one_of(&["\"packet_id\":", "\"sequence\":"])? == 0 {
            self.string_as(|text| text.parse::<PacketId>().is_ok(), "a packet id")?;
            self.literal(b",\"sequence\":")?;
        } else if !of_a_turn {
            self.literal(b"\"sequence\":")?;
        }
        self.literal(sequence.to_string().as_bytes())?;
        self.literal(b",\"time\":\"")?;
        let start = self.at;
        for form in TIME {
            match form {
                b'0' => self.byte(|byte| byte.is_ascii_digit(), "a digit")?,
                form => self.literal(std::slice::from_ref(form))?,
            }
        }
        let time = self.text.get(start..self.at).and_then(|time| std::str::from_utf8(time).ok());
        if time.is_none_or(|time| humantime::parse_rfc3339(time).is_err()) {
            self.at = start;
            return Err(ParseStop::Wrong("a time".to_owned()));
        }
        self.literal(b"\"")?;
        if of_a_turn {
            self.literal(b",\"turn\":")?;
            self.string_as(TurnId::is_name, "a turn id")?;
        }
        match self.literal(END) {
            Err(ParseStop::End) => Err(ParseStop::Rest(self.rest().len())),
            read => read,
        }?;
        if self.at == self.text.len() { Ok(()) } else { Err(ParseStop::Wrong("a line break".to_owned())) }
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Progress<u8> {
        self.rest().first().copied().ok_or(ParseStop::End)
    }

    fn byte(&mut self, fits: impl Fn(u8) -> bool, expected: &str) -> Progress<()> {
        if !fits(self.peek()?) {
            return Err(ParseStop::Wrong(expected.to_owned()));
        }
        self.at += 1;
        Ok(())
    }

    fn literal(&mut self, literal: &[u8]) -> Progress<()> {
        let same = self.rest().iter().zip(literal).take_while(|(byte, literal)| byte == literal).count();
        if same == literal.len() {
            self.at += same;
            return Ok(());
        }
        if same == self.rest().len() {
            return Err(ParseStop::End);
        }
        Err(ParseStop::Wrong(format!("`{}`", String::from_utf8_lossy(literal))))
    }

    /// Parses one of several texts and returns its index.
    fn one_of(&mut self, texts: &[&str]) -> Progress<usize> {
        let mut ends = false;
        for (index, text) in texts.iter().enumerate() {
            match self.literal(text.as_bytes()) {
                Ok(()) => return Ok(index),
                Err(ParseStop::End) => ends = true,
                Err(_) => {}
            }
        }
        let expected = || texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(" or ");
        Err(if ends { ParseStop::End } else { ParseStop::Wrong(expected()) })
    }

    fn string_as(&mut self, fits: impl Fn(&str) -> bool, expected: &str) -> Progress<()> {
        let start = self.at;
        match self.string()? {
            ParsedString::Whole(text) if fits(&text) => Ok(()),
            ParsedString::Whole(_) => {
                self.at = start;
                Err(ParseStop::Wrong(expected.to_owned()))
            }
            ParsedString::Start(_) => Err(ParseStop::End),
        }
    }

    /// Parses a string in canonical form (RFC 8785), or the start of one.
    fn string(&mut self) -> Progress<ParsedString> {
        self.literal(b"\"")?;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let run = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(rest.len());
            let (plain, ends) = (rest.get(..run).unwrap_or_default(), run == rest.len());
            match std::str::from_utf8(plain) {
                Ok(plain) => text.push_str(plain),
                // A multi-byte character may be incomplete.
                Err(error) if ends && error.error_len().is_none() => {
                    let valid = plain.get(..error.valid_up_to()).unwrap_or_default();
                    text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                }
                Err(error) => {
                    self.at += error.valid_up_to();
                    return Err(ParseStop::Wrong("UTF-8".to_owned()));
                }
            }
            self.at += run;
            match self.peek() {
                Err(_) => return Ok(ParsedString::Start(text)),
                Ok(b'"') => {
                    self.at += 1;
                    return Ok(ParsedString::Whole(text));
                }
                Ok(b'\\') => match self.escape() {
                    Ok(escaped) => text.push(escaped),
                    Err(ParseStop::End) => return Ok(ParsedString::Start(text)),
                    Err(stop) => return Err(stop),
                },
                Ok(_) => return Err(ParseStop::Wrong("no control character".to_owned())),
            }
        }
    }

    /// Parses an escape. Each escape has only one spelling, and only characters that need escaping are escaped.
    fn escape(&mut self) -> Progress<char> {
        let escapes: Vec<_> = ('\0'..='\u{1f}').chain(['"', '\\']).map(|c| (c, escaped(c))).collect();
        let texts: Vec<_> = escapes.iter().map(|(_, text)| text.as_str()).collect();
        match self.one_of(&texts) {
            Ok(index) => escapes.get(index).map(|(c, _)| *c).ok_or(ParseStop::End),
            Err(ParseStop::Wrong(_)) => Err(ParseStop::Wrong("an escape as RFC 8785 writes it".to_owned())),
            Err(stop) => Err(stop),
        }
    }

    fn value(&mut self, levels: usize) -> Progress<()> {
        match self.peek()? {
            b'"' => match self.string()? {
                ParsedString::Whole(_) => Ok(()),
                ParsedString::Start(_) => Err(ParseStop::End),
            },
            b'{' if levels > 0 => self.object(levels),
            b'[' if levels > 0 => self.array(levels),
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(ParseStop::Wrong("a value".to_owned())),
        }
    }

    fn array(&mut self, levels: usize) -> Progress<()> {
        self.literal(b"[")?;
        if self.peek()? == b']' {
            return self.literal(b"]");
        }
        loop {
            self.value(levels - 1)?;
            if self.one_of(&[",", "]"])? == 1 {
                return Ok(());
            }
        }
    }

    fn object(&mut self, levels: usize) -> Progress<()> {
        self.literal(b"{")?;
        if self.peek()? == b'}' {
            return self.literal(b"}");
        }
        let mut before: Option<String> = None;
        loop {
            let start = self.at;
            let (key, is_whole) = match self.string()? {
                ParsedString::Whole(key) => (key, true),
                ParsedString::Start(key) => (key, false),
            };
            let follows = before.as_ref().is_none_or(|before| {
                // The start of a key may still grow into a key that sorts after the one that it is a prefix of.
                by_utf_16(before, &key) == Ordering::Less || (!is_whole && before.starts_with(&key))
            });
            if !follows {
                self.at = start;
                return Err(ParseStop::Wrong("a key that follows the one before".to_owned()));
            }
            if !is_whole {
                return Err(ParseStop::End);
            }
            before = Some(key);
            self.literal(b":")?;
            self.value(levels - 1)?;
            if self.one_of(&[",", "}"])? == 1 {
                return Ok(());
            }
        }
    }

    /// Parses a number in canonical form (RFC 8785), within ±(2^53−1).
    fn number(&mut self) -> Progress<()> {
        let rest = self.rest();
        let is_part = |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e');
        let length = rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len());
        let text = rest.get(..length).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        let fits = if length == rest.len() { is_number_start(text) } else { is_number(text) };
        if !fits {
            return Err(ParseStop::Wrong("a number as RFC 8785 writes it".to_owned()));
        }
        let ends = length == rest.len();
        self.at += length;
        if ends { Err(ParseStop::End) } else { Ok(()) }
    }
}

/// Complete string, or the available start of one.
enum ParsedString {
    Whole(String),
    Start(String),
}

fn escaped(c: char) -> String {
    let quoted = canonical::write(&c).ok().and_then(|text| String::from_utf8(text).ok()).unwrap_or_default();
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

fn by_utf_16(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

fn is_number(text: &str) -> bool {
    serde_json::from_str::<Value>(text)
        .is_ok_and(|value| value.is_number() && canonical::canonical(&value).is_ok_and(|own| own == text.as_bytes()))
}

/// Returns whether a text is a prefix of `-?(0|[1-9][0-9]*)(\.[0-9]+)?(e-[1-9][0-9]*)?`. A non-negative exponent would
/// exceed 2^53−1.
fn is_number_start(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) =
        text.split_once('e').map_or((text, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let (whole, fraction) =
        mantissa.split_once('.').map_or((mantissa, None), |(whole, fraction)| (whole, Some(fraction)));
    let is_whole = digits(whole) && whole.len() <= 16 && (whole.len() == 1 || !whole.starts_with('0'));
    // A part followed by another one is complete.
    let is_mantissa = is_whole && (!whole.is_empty() || (fraction.is_none() && exponent.is_none()));
    let is_fraction = fraction.is_none_or(|fraction| {
        digits(fraction)
            && fraction.len() <= 24
            && !(exponent.is_some() && (fraction.is_empty() || fraction.ends_with('0')))
    });
    let is_exponent = exponent.is_none_or(|exponent| {
        let value = exponent.strip_prefix('-').unwrap_or(exponent);
        (exponent.is_empty() || exponent.starts_with('-'))
            && digits(value)
            && value.len() <= 3
            && !value.starts_with('0')
    });
    is_mantissa && is_fraction && is_exponent
}

/// Time format, in which `0` matches any digit.
const TIME: &[u8] = b"0000-00-00T00:00:00.000Z";

/// End of every entry.
const END: &[u8] = b",\"v\":1}";
