//! Compact encoding of a log, so that the fuzzer changes which packets it contains, and not only their text.
//!
//! Each line of a script stands for a line of a log:
//!
//! | Line | Stands for |
//! |---|---|
//! | `#3f2a` | a line of an example log, by four hexadecimal digits |
//! | `=3f2a` | the same, with the correlation id of the first line |
//! | `#3f2a~LOW~HIGH` | the same, with the first `LOW` replaced by `HIGH`, and so on for more pairs |
//! | `@2026-03-01T10:00:00Z` | no line: the time is now this |
//! | <code>&#124;</code> | no line: a cut |
//! | anything else | itself |
//!
//! Any four digits name a line: the one whose own digits come next. They are a hash of the example and the line's number, so new
//! examples do not change what other digits stand for.

use std::borrow::Cow;
use std::sync::OnceLock;

use omen_types::Instant;

/// A line of a script.
#[derive(Clone, Debug)]
pub enum Item {
    /// A line of a log.
    Line(Vec<u8>),
    /// The time is now this.
    Time(Instant),
    /// A cut.
    Cut,
}

/// The most lines that a script may have; the rest is not read.
const MOST: usize = 40;

/// Reads a script.
#[must_use]
pub fn read(script: &[u8]) -> Vec<Item> {
    let mut episode: Option<String> = None;
    let mut items = Vec::new();
    for line in script.split(|byte| *byte == b'\n').take(MOST) {
        if line == b"|" {
            items.push(Item::Cut);
            continue;
        }
        if let Some(time) = line.strip_prefix(b"@").and_then(|time| std::str::from_utf8(time).ok()?.parse().ok()) {
            items.push(Item::Time(time));
            continue;
        }
        let line = match expanded(line) {
            Some(mut text) => {
                if line.first() == Some(&b'=')
                    && let (Some(first), Some(own)) = (&episode, correlation_id(&text))
                {
                    text = text.replacen(own, first, 1);
                }
                text.into_bytes()
            }
            None => line.to_vec(),
        };
        if episode.is_none() {
            episode = std::str::from_utf8(&line).ok().and_then(correlation_id).map(str::to_owned);
        }
        items.push(Item::Line(line));
    }
    items
}

/// The log that a script stands for.
#[must_use]
pub fn log(script: &[u8]) -> Vec<Vec<u8>> {
    let line = |item| match item {
        Item::Line(line) => Some(line),
        Item::Time(_) | Item::Cut => None,
    };
    read(script).into_iter().filter_map(line).collect()
}

/// The correlation id of a packet, with its quotes.
fn correlation_id(text: &str) -> Option<&str> {
    const KEY: &str = "\"correlation_id\":";
    let rest = text.get(text.find(KEY)? + KEY.len()..)?.trim_start();
    let end = rest.get(1..)?.find('"')? + 2;
    rest.get(..end)
}

/// The line of an example that a line of a script names, edited.
fn expanded(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let name = line.strip_prefix(['#', '='])?;
    let digits = u16::from_str_radix(name.get(..4)?, 16).ok()?;
    let mut text = Cow::Borrowed(example(digits)?);
    let mut edits = name.get(4..)?.split('~').skip(1);
    while let (Some(from), Some(to)) = (edits.next(), edits.next()) {
        if !from.is_empty() {
            text = text.replacen(from, to, 1).into();
        }
    }
    Some(text.into_owned())
}

/// All lines of the example logs, by their digits.
#[must_use]
pub fn examples() -> &'static [(u16, &'static str)] {
    static ALL: OnceLock<Vec<(u16, &'static str)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let logs = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"));
        let mut all: Vec<_> = logs.flat_map(|(path, log)| named(path, log)).collect();
        all.sort_by_key(|(digits, _)| *digits);
        all
    })
}

/// The lines of a log, each with its digits.
pub fn named<'l>(path: &'l str, log: &'l str) -> impl Iterator<Item = (u16, &'l str)> {
    log.lines().enumerate().map(move |(number, line)| {
        let hash = hash(path.as_bytes()) ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (digits(hash), line)
    })
}

fn digits(hash: u64) -> u16 {
    let folded = hash ^ (hash >> 32);
    ((folded ^ (folded >> 16)) & 0xffff) as u16
}

fn example(digits: u16) -> Option<&'static str> {
    let all = examples();
    let next = all.partition_point(|(own, _)| *own < digits);
    all.get(next).or(all.first()).map(|(_, line)| *line)
}

/// A number that depends on all bytes (FNV-1a): for choices that a script does not make.
#[must_use]
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
