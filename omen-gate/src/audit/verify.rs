//! Verification: is the log what was written?

use std::io::{self, Read};

use omen_types::limits::MAX_LINE_BYTES;

use super::chain::genesis;
use super::entry::Entry;
use super::flaw::Flaw;
use super::head::{Head, Point};
use super::torn;
use super::verdict::{LogVerdict, Tampering, Verification};
use super::{Anchor, Key};

/// Verifies a log, with its head record and an anchor if there are any. Memory is bounded: one line is held.
///
/// # Errors
/// If the log cannot be read.
pub fn verify(mut log: impl Read, head: Option<&[u8]>, key: &Key, anchor: Option<&Anchor>) -> io::Result<Verification> {
    let mut verifier = Verifier::new(head, key, anchor);
    let mut piece = vec![0; PIECE];
    while !verifier.is_decided() {
        match log.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => verifier.feed(piece.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(verifier.finish())
}

/// A verification in pieces.
#[derive(Clone, Debug)]
pub struct Verifier<'v> {
    key: &'v Key,
    head: Option<&'v [u8]>,
    named: Option<Head>,
    anchor: Option<Point>,
    /// The sound entries.
    at: Point,
    bytes: u64,
    /// The entries before the last group.
    before: Point,
    /// How many entries the group before the last one has.
    group_before: u64,
    /// Whether the entries that the head record and the anchor name are those of the log; `None` until they come.
    fits_head: Option<bool>,
    fits_anchor: Option<bool>,
    /// The line that has begun.
    line: Vec<u8>,
    flaw: Option<Flaw>,
}

impl<'v> Verifier<'v> {
    /// Begins with an empty log. The head record is read before the log.
    #[must_use]
    pub fn new(head: Option<&'v [u8]>, key: &'v Key, anchor: Option<&Anchor>) -> Self {
        let start = Point { count: 0, last: genesis(key) };
        let mut verifier = Self {
            key,
            head,
            named: head.and_then(|bytes| Head::decode(bytes, key)),
            anchor: anchor.map(Anchor::at),
            at: start,
            bytes: 0,
            before: start,
            group_before: 0,
            fits_head: None,
            fits_anchor: None,
            line: Vec::new(),
            flaw: None,
        };
        verifier.compare();
        verifier
    }

    /// Whether more of the log cannot change the verdict.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.flaw.is_some()
    }

    /// Takes the next piece of the log, cut anywhere.
    pub fn feed(&mut self, mut piece: &[u8]) {
        while self.flaw.is_none() && !piece.is_empty() {
            let Some((rest, after)) = memchr::memchr(b'\n', piece).and_then(|end| piece.split_at_checked(end + 1))
            else {
                self.hold(piece);
                return;
            };
            piece = after;
            if self.line.is_empty() {
                self.judge(rest);
            } else {
                self.hold(rest);
                let line = std::mem::take(&mut self.line);
                self.judge(&line);
                // The allocation serves the next line.
                self.line = line;
                self.line.clear();
            }
        }
    }

    /// The log ends here: what is it?
    #[must_use]
    pub fn finish(self) -> Verification {
        let verdict = self.verdict();
        Verification { verdict, entries: self.at.count, last: self.at.last, bytes: self.bytes }
    }

    fn hold(&mut self, piece: &[u8]) {
        if self.line.len() + piece.len() > MAX_LINE_BYTES {
            self.flaw = Some(Flaw::Long);
        } else {
            self.line.extend_from_slice(piece);
        }
    }

    /// Judges a line with its line break.
    fn judge(&mut self, line: &[u8]) {
        if self.flaw.is_some() {
            return;
        }
        if line.len() > MAX_LINE_BYTES {
            self.flaw = Some(Flaw::Long);
            return;
        }
        let entry = line.strip_suffix(b"\n").unwrap_or(line);
        let count = self.at.count + 1;
        match Entry::judge(entry, self.key, &self.at.last, count) {
            Ok((entry, last)) => {
                let before = std::mem::replace(&mut self.at, Point { count, last });
                match entry.group {
                    None => {
                        self.group_before = before.count - self.before.count;
                        self.before = before;
                    }
                    Some(first) if first == self.before.count + 1 => {}
                    Some(first) => {
                        self.at = before;
                        let why =
                            format_args!("it belongs to the group of entry {first}, and the entry before it does not");
                        self.flaw = Some(Flaw::not_entry(why));
                        return;
                    }
                }
                self.bytes += line.len() as u64;
                self.compare();
            }
            Err(flaw) => self.flaw = Some(flaw),
        }
    }

    fn compare(&mut self) {
        let fits = |point: Point| (point.count == self.at.count).then_some(point == self.at);
        self.fits_head = self.fits_head.or(self.named.and_then(|head| fits(head.at)));
        self.fits_anchor = self.fits_anchor.or(self.anchor.and_then(fits));
    }

    /// What weighs most comes first: a line that is wrong, then what the anchor knows from outside, then the head.
    fn verdict(&self) -> LogVerdict {
        if let Some(flaw) = &self.flaw {
            return self.wrong_line(flaw.clone());
        }
        if let Err(flaw) = self.tail() {
            return self.wrong_line(flaw);
        }
        match (self.anchor, self.fits_anchor) {
            (Some(anchor), Some(false)) => return LogVerdict::Tampered(Tampering::AnchorOther(anchor.count)),
            (Some(anchor), None) => return self.cut(anchor.count),
            (Some(_), Some(true)) | (None, _) => {}
        }
        let torn = self.line.len() as u64;
        match (self.head, self.named) {
            (_, Some(head)) => self.by_head(head, torn),
            // A head record is made before there is a log at all.
            (None, None) if self.at.count == 0 && torn == 0 => LogVerdict::Tampered(Tampering::Empty),
            (None, None) => LogVerdict::Tampered(Tampering::HeadMissing),
            (Some(head), None) if self.at.count > 0 && self.is_torn(head) => {
                LogVerdict::Incomplete { entries: self.at.count - self.before.count, bytes: torn }
            }
            (Some(_), None) => LogVerdict::Tampered(Tampering::HeadChanged),
        }
    }

    /// Whether a head record is what a write of it for the last group has left that stopped midway. The one before says of
    /// its group that it was adopted, or does not.
    fn is_torn(&self, head: &[u8]) -> bool {
        [0, self.group_before].into_iter().any(|adopted| {
            let old = Head { at: self.before, adopted };
            Head::is_torn(head, old, self.at, self.key)
        })
    }

    fn by_head(&self, head: Head, torn: u64) -> LogVerdict {
        let named = head.at.count;
        match self.fits_head {
            None => return self.cut(named),
            Some(false) => return LogVerdict::Tampered(Tampering::HeadOther(named)),
            Some(true) => {}
        }
        match self.at.count - named {
            // The first entry is written when the log is opened.
            0 if named == 0 && torn == 0 => LogVerdict::Incomplete { entries: 0, bytes: 0 },
            0 if torn == 0 && head.adopted == 0 => LogVerdict::Sound,
            0 => LogVerdict::Incomplete { entries: head.adopted, bytes: torn },
            // A group is written only after the head record has named the one before.
            entries if self.before == head.at => LogVerdict::Incomplete { entries, bytes: torn },
            _ => LogVerdict::Tampered(Tampering::HeadOld { named }),
        }
    }

    /// The log ends before an entry that was acknowledged.
    fn cut(&self, want: u64) -> LogVerdict {
        LogVerdict::Truncated { have: self.at.count, want }
    }

    /// Bytes behind the last line break are what a write has left that stopped midway, or not what was written (D57).
    fn tail(&self) -> Result<(), Flaw> {
        if self.line.is_empty() {
            return Ok(());
        }
        // Only what was not acknowledged can be in the same group.
        let so_far = self.at.count - self.before.count;
        let is_open = so_far > 0
            && self.named.is_some_and(|head| match head.adopted {
                0 => head.at == self.before,
                adopted => head.at == self.at && adopted == so_far,
            });
        let group = is_open.then_some(self.before.count + 1);
        torn::judge(&self.line, self.key, &self.at.last, self.at.count + 1, group)
    }

    fn wrong_line(&self, flaw: Flaw) -> LogVerdict {
        LogVerdict::Tampered(Tampering::Line { line: self.at.count + 1, offset: self.bytes, flaw })
    }
}

/// Bytes read at a time.
const PIECE: usize = 64 * 1024;
