//! Verification of one file of a log, without access to files.

mod partial_write;
mod verdict;

use std::io::{self, Read};
use std::time::SystemTime;

use omen_types::limits::MAX_LINE_BYTES;

pub use self::verdict::{LogVerdict, Tampering, Verification};
use crate::anchor::Anchor;
use crate::chain::entry::{Entry, Label, OwnKind};
use crate::chain::head::Head;
use crate::chain::rotation_link::RotationLink;
use crate::chain::{ChainPosition, Flaw};
use crate::key::Key;

/// Verifies a log with its head record and an anchor, if they exist. Memory use is bounded by one line.
///
/// A continuing file is verified from the end of the previous one, as stated in its first entry.
///
/// # Errors
/// If the log cannot be read.
pub fn verify(log: impl Read, head: Option<&[u8]>, key: &Key, anchor: Option<&Anchor>) -> io::Result<Verification> {
    let mut verifier = Verifier::new(head, key, anchor);
    verifier.read(log, &mut |_| {})?;
    Ok(verifier.finish())
}

/// Incremental verifier.
#[derive(Clone, Debug)]
pub struct Verifier<'v> {
    key: &'v Key,
    head: Option<&'v [u8]>,
    /// Decoded head record, if valid.
    pub(crate) named: Option<Head>,
    anchor: Option<ChainPosition>,
    anchor_may_be_elsewhere: bool,
    /// End of the previous file.
    pub(crate) start: ChainPosition,
    /// Number of this file, if known.
    number: Option<u32>,
    /// Whether to stop at the entry in the head record.
    stops_at_head: bool,
    /// Position of the last sound entry.
    at: ChainPosition,
    bytes: u64,
    /// Position before the last group.
    before: ChainPosition,
    /// Number of entries in the group before the last one.
    group_before: u64,
    /// Time of the first entry.
    pub(crate) begun: Option<SystemTime>,
    /// Whether the last entry ends the file.
    pub(crate) is_closed: bool,
    /// Whether the entry in the head record matches the log; `None` until it is reached.
    fits_head: Option<bool>,
    /// Whether the anchor's entry in this file matches; `None` if it is not in this file.
    pub(crate) fits_anchor: Option<bool>,
    /// Incomplete line read so far.
    line: Vec<u8>,
    flaw: Option<Flaw>,
}

/// Verified part of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifiedPart {
    at: ChainPosition,
    before: ChainPosition,
    group_before: u64,
    begun: Option<SystemTime>,
    pub(crate) bytes: u64,
}

impl<'v> Verifier<'v> {
    /// Creates a verifier for a log that starts with the first entry. The head record must be read before the log.
    #[must_use]
    pub fn new(head: Option<&'v [u8]>, key: &'v Key, anchor: Option<&Anchor>) -> Self {
        Self::at(ChainPosition::genesis(key), None, head, key, anchor)
    }

    /// Creates a verifier for a log file by its number, from the end of the previous file.
    pub(crate) fn of_file(
        number: u32,
        start: ChainPosition,
        head: Option<&'v [u8]>,
        key: &'v Key,
        anchor: Option<&Anchor>,
    ) -> Self {
        Self::at(start, Some(number), head, key, anchor)
    }

    fn at(
        start: ChainPosition,
        number: Option<u32>,
        head: Option<&'v [u8]>,
        key: &'v Key,
        anchor: Option<&Anchor>,
    ) -> Self {
        let mut verifier = Self {
            key,
            head,
            named: head.and_then(|bytes| Head::decode(bytes, key)),
            anchor: anchor.map(Anchor::at),
            anchor_may_be_elsewhere: false,
            start,
            number,
            stops_at_head: false,
            at: start,
            bytes: 0,
            before: start,
            group_before: 0,
            begun: None,
            is_closed: false,
            fits_head: None,
            fits_anchor: None,
            line: Vec::new(),
            flaw: None,
        };
        verifier.compare();
        verifier
    }

    /// Continues after a previously verified part of the file. The anchor has been compared if its entry is in that part.
    pub(crate) fn after(mut self, part: VerifiedPart) -> Self {
        let VerifiedPart { at, before, group_before, begun, bytes } = part;
        (self.at, self.before, self.group_before, self.begun, self.bytes) = (at, before, group_before, begun, bytes);
        (self.fits_head, self.fits_anchor) = (None, None);
        self.compare();
        self
    }

    /// Returns the part of the file that has been verified.
    pub(crate) fn part(&self) -> VerifiedPart {
        let Self { at, before, group_before, begun, bytes, .. } = *self;
        VerifiedPart { at, before, group_before, begun, bytes }
    }

    /// Allows the anchor's entry to be in another file of the log.
    pub(crate) fn with_the_anchor_elsewhere(self) -> Self {
        Self { anchor_may_be_elsewhere: true, ..self }
    }

    /// Stops at the head record, because later entries are still being written.
    pub(crate) fn up_to_the_head(self) -> Self {
        Self { stops_at_head: true, ..self }
    }

    /// Reads a log to its end, or as far as necessary, and passes each sound entry to a callback.
    pub(crate) fn read(&mut self, mut log: impl Read, seen: &mut dyn FnMut(&Entry)) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        while !self.is_decided() {
            match log.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => self.feed_to(piece.get(..length).unwrap_or_default(), seen),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the position of the last sound entry.
    pub(crate) fn point(&self) -> ChainPosition {
        self.at
    }

    /// Returns the number of the file according to its first entry.
    pub(crate) fn number(&self) -> Option<u32> {
        self.number
    }

    /// Returns whether the rest of the log cannot change the verdict.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.flaw.is_some() || self.is_at_its_stop()
    }

    fn is_at_its_stop(&self) -> bool {
        self.stops_at_head && self.named.is_some_and(|head| self.at.count >= head.at.count)
    }

    /// Verifies the next piece of the log, which may be cut anywhere.
    pub fn feed(&mut self, piece: &[u8]) {
        self.feed_to(piece, &mut |_| {});
    }

    fn feed_to(&mut self, mut piece: &[u8], seen: &mut dyn FnMut(&Entry)) {
        while !self.is_decided() && !piece.is_empty() {
            let Some((rest, after)) = memchr::memchr(b'\n', piece).and_then(|end| piece.split_at_checked(end + 1))
            else {
                self.hold(piece);
                return;
            };
            piece = after;
            if self.line.is_empty() {
                self.judge(rest, seen);
            } else {
                self.hold(rest);
                let line = std::mem::take(&mut self.line);
                self.judge(&line, seen);
                // Reuses the allocation for the next line.
                self.line = line;
                self.line.clear();
            }
        }
    }

    /// Ends the log and returns the result.
    #[must_use]
    pub fn finish(self) -> Verification {
        let verdict = self.verdict();
        Verification {
            verdict,
            before: self.start.count,
            entries: self.at.count,
            last: self.at.last,
            bytes: self.bytes,
        }
    }

    fn hold(&mut self, piece: &[u8]) {
        if self.line.len() + piece.len() > MAX_LINE_BYTES {
            self.flaw = Some(Flaw::Long);
        } else {
            self.line.extend_from_slice(piece);
        }
    }

    /// Verifies a line including its line break.
    fn judge(&mut self, line: &[u8], seen: &mut dyn FnMut(&Entry)) {
        if self.flaw.is_some() {
            return;
        }
        match self.entry(line) {
            Ok(entry) => seen(&entry),
            Err(flaw) => self.flaw = Some(flaw),
        }
    }

    fn entry(&mut self, line: &[u8]) -> Result<Entry, Flaw> {
        if line.len() > MAX_LINE_BYTES {
            return Err(Flaw::Long);
        }
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let is_first = self.at == self.start;
        if is_first && self.number.is_none() {
            self.begin(text);
        }
        if self.is_closed {
            return Err(Flaw::not_entry("the previous entry says that the file ends there"));
        }
        let count = self.at.count + 1;
        let (entry, last) = Entry::judge(text, self.key, &self.at.last, count)?;
        if is_first && let Some(number) = self.number {
            RotationLink { file: number, count: self.at.count, last: self.at.last }.check(&entry)?;
        }
        let before = self.at;
        match entry.group {
            None => {
                self.group_before = before.count - self.before.count;
                self.before = before;
            }
            Some(first) if first == self.before.count + 1 => {}
            Some(first) => {
                let why = format_args!("it belongs to the group of entry {first}, but the previous entry does not");
                return Err(Flaw::not_entry(why));
            }
        }
        if is_first {
            self.begun = humantime::parse_rfc3339(&entry.time).ok();
        }
        self.is_closed = entry.kind == Label::Own(OwnKind::Rotated);
        self.at = ChainPosition { count, last };
        self.bytes += line.len() as u64;
        self.compare();
        Ok(entry)
    }

    /// Verifies the first line of a file with an unknown number. If the line continues another file, the chain starts
    /// where it says that the other file ended; the seal covers both.
    fn begin(&mut self, line: &[u8]) {
        let seam = serde_json::from_slice(line).ok().and_then(|entry| RotationLink::from_entry(&entry));
        let Some(RotationLink { file, count, last }) = seam else {
            self.number = Some(1);
            return;
        };
        self.number = Some(file);
        self.start = ChainPosition { count, last };
        (self.at, self.before) = (self.start, self.start);
        (self.fits_head, self.fits_anchor) = (None, None);
        self.compare();
    }

    fn compare(&mut self) {
        let fits = |point: ChainPosition| (point.count == self.at.count).then_some(point == self.at);
        self.fits_head = self.fits_head.or(self.named.and_then(|head| fits(head.at)));
        self.fits_anchor = self.fits_anchor.or(self.anchor.and_then(fits));
    }

    /// Returns the verdict by severity: an invalid line comes first, then a mismatch with the anchor, which comes from
    /// outside, then the head record.
    fn verdict(&self) -> LogVerdict {
        if let Some(flaw) = &self.flaw {
            return self.wrong_line(flaw.clone());
        }
        if let Err(flaw) = self.tail() {
            return self.wrong_line(flaw);
        }
        match (self.anchor, self.fits_anchor) {
            (Some(anchor), Some(false)) => return LogVerdict::Tampered(Tampering::AnchorOther(anchor.count)),
            // The entry is in another file.
            (Some(anchor), None) if self.anchor_may_be_elsewhere || anchor.count < self.start.count => {}
            (Some(anchor), None) => return self.cut(anchor.count),
            (Some(_), Some(true)) | (None, _) => {}
        }
        let torn = self.line.len() as u64;
        match (self.head, self.named) {
            (_, Some(head)) => self.by_head(head, torn),
            // A head record is created before the log.
            (None, None) if self.bytes == 0 && torn == 0 => LogVerdict::Tampered(Tampering::Empty),
            (None, None) => LogVerdict::Tampered(Tampering::HeadMissing),
            (Some(head), None) if self.bytes > 0 && self.is_torn(head) => {
                LogVerdict::Incomplete { entries: self.at.count - self.before.count, bytes: torn }
            }
            (Some(_), None) => LogVerdict::Tampered(Tampering::HeadChanged),
        }
    }

    /// Returns whether a head record is the partial write of one for the last group. The previous group's record may or
    /// may not have adopted entries.
    fn is_torn(&self, head: &[u8]) -> bool {
        [0, self.group_before].into_iter().any(|adopted| {
            let old = Head { adopted, ..Head::new(self.before) };
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
            0 if named == self.start.count && torn == 0 => LogVerdict::Incomplete { entries: 0, bytes: 0 },
            0 if torn == 0 && head.adopted == 0 => LogVerdict::Sound,
            0 => LogVerdict::Incomplete { entries: head.adopted, bytes: torn },
            // A group is written only after the head record covers the previous one.
            entries if self.before == head.at => LogVerdict::Incomplete { entries, bytes: torn },
            _ => LogVerdict::Tampered(Tampering::HeadOld { named }),
        }
    }

    /// Returns the verdict on a log that ends before an acknowledged entry.
    fn cut(&self, want: u64) -> LogVerdict {
        LogVerdict::Truncated { have: self.at.count, want }
    }

    /// Checks the bytes after the last line break: the remains of a partial write, or tampering (D57).
    fn tail(&self) -> Result<(), Flaw> {
        if self.line.is_empty() {
            return Ok(());
        }
        if self.is_closed {
            return Err(Flaw::NotStart { at: 0, expected: "nothing".to_owned() });
        }
        // Only unacknowledged entries can be in the same group.
        let so_far = self.at.count - self.before.count;
        let is_open = so_far > 0
            && self.named.is_some_and(|head| match head.adopted {
                0 => head.at == self.before,
                adopted => head.at == self.at && adopted == so_far,
            });
        let group = is_open.then_some(self.before.count + 1);
        partial_write::judge(&self.line, self.key, &self.at.last, self.at.count + 1, group)
    }

    fn wrong_line(&self, flaw: Flaw) -> LogVerdict {
        LogVerdict::Tampered(Tampering::Line { line: self.at.count - self.start.count + 1, offset: self.bytes, flaw })
    }
}

/// Size of a read in bytes.
const PIECE: usize = 64 * 1024;
