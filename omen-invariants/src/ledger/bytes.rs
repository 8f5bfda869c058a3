//! Compact encoding of numbers, times and texts, for packed ledgers and the snapshot of a validator.
//!
//! Small numbers take one byte, as do the fractions of whole seconds. If the bytes end too early, which never happens
//! with the writer's output, the reader returns zeros and empty texts.

use omen_types::Instant;

use super::fingerprint::Fingerprint;

/// Choice of the ledgers to pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Only small ledgers, of which a packet changes a large part: copying others would take longer than judging the packet.
    Small,
    /// All ledgers. Equal ledgers yield equal bytes on every platform, regardless of their history.
    Any,
}

/// Writer that appends to a buffer.
pub struct Writer<'b>(pub &'b mut Vec<u8>);

impl Writer<'_> {
    pub fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Writes seven bits per byte, lowest bits first; the eighth bit indicates that more bytes follow.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub fn fingerprint(&mut self, fingerprint: Fingerprint) {
        self.0.extend_from_slice(&fingerprint.to_bytes());
    }

    pub fn time(&mut self, time: Instant) {
        // The sign is the lowest bit, so that times before 1970 are short, too.
        let seconds = time.unix_seconds();
        self.number(((seconds << 1) ^ (seconds >> 63)).cast_unsigned());
        // Most fractions are zero, or whole milliseconds, microseconds or nanoseconds.
        let attos = time.attos();
        let (place, unit) =
            UNITS.into_iter().enumerate().find(|(_, unit)| attos.is_multiple_of(*unit)).unwrap_or((0, 1));
        self.number((attos / unit) << 2 | place as u64);
    }

    /// Writes eight flags in one byte.
    pub fn flags(&mut self, flags: [bool; 8]) {
        self.0.push(flags.into_iter().fold(0, |byte, flag| byte << 1 | u8::from(flag)));
    }
}

/// Reader for the output of a [`Writer`]; reads in the same order.
pub struct Reader<'b>(pub &'b [u8]);

impl<'b> Reader<'b> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 == 0 {
                return number;
            }
        }
    }

    /// Reads the number of elements that follow, limited to the number of remaining bytes.
    pub fn count(&mut self) -> usize {
        let count = self.number();
        usize::try_from(count).map_or(self.0.len(), |count| count.min(self.0.len()))
    }

    pub fn text(&mut self) -> &'b str {
        std::str::from_utf8(self.bytes()).unwrap_or_default()
    }

    pub fn bytes(&mut self) -> &'b [u8] {
        let length = self.count();
        self.take(length)
    }

    pub fn fingerprint(&mut self) -> Fingerprint {
        Fingerprint::from_bytes(self.take(size_of::<Fingerprint>()).try_into().unwrap_or_default())
    }

    pub fn time(&mut self) -> Instant {
        let seconds = self.number();
        let seconds = (seconds >> 1).cast_signed() ^ -(seconds & 1).cast_signed();
        let fraction = self.number();
        let unit = UNITS.get((fraction & 3) as usize).copied().unwrap_or(1);
        Instant::from_unix(seconds, (fraction >> 2).saturating_mul(unit))
    }

    pub fn flags(&mut self) -> [bool; 8] {
        let byte = self.byte();
        [7, 6, 5, 4, 3, 2, 1, 0].map(|bit| byte >> bit & 1 == 1)
    }

    fn take(&mut self, length: usize) -> &'b [u8] {
        let (taken, rest) = self.0.split_at_checked(length).unwrap_or((self.0, &[]));
        self.0 = rest;
        taken
    }
}

/// A millisecond, a microsecond, a nanosecond, and the smallest unit, in 10⁻¹⁸ s.
const UNITS: [u64; 4] = [1_000_000_000_000_000, 1_000_000_000_000, 1_000_000_000, 1];

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests")]
mod tests {
    use super::super::fingerprint::Kind;
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let numbers = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::from(u32::MAX), u64::MAX >> 1, u64::MAX];
        let times = [
            "1970-01-01T00:00:00Z",
            "2026-03-01T10:00:00.25Z",
            "2026-03-01T10:00:00.000001Z",
            "1969-12-31T23:59:59.999999999Z",
            "0000-01-01T00:00:00.123456789123456789Z",
            "9999-12-31T23:59:59.999999999999999999Z",
        ]
        .map(|time| time.parse::<Instant>().expect("a time"));
        let texts = ["", "corr_1", "für\0\n", &"x".repeat(300)];
        let flags = [true, false, false, true, true, false, true, false];
        let id = Fingerprint::new(Kind::Task, "task_1").marked();
        let mut bytes = Vec::new();
        let mut writer = Writer(&mut bytes);
        numbers.iter().for_each(|number| writer.number(*number));
        times.iter().for_each(|time| writer.time(*time));
        texts.iter().for_each(|text| writer.text(text));
        writer.flags(flags);
        writer.fingerprint(id);
        writer.byte(7);
        let mut reader = Reader(&bytes);
        assert_eq!(numbers.map(|_| reader.number()), numbers);
        assert_eq!(times.map(|_| reader.time()), times);
        assert_eq!([(); 4].map(|()| reader.text()), texts);
        assert_eq!((reader.flags(), reader.fingerprint(), reader.byte()), (flags, id, 7));
        assert!(reader.0.is_empty());
    }

    #[test]
    fn small_values_take_few_bytes() {
        let bytes = |write: &dyn Fn(&mut Writer<'_>)| {
            let mut bytes = Vec::new();
            write(&mut Writer(&mut bytes));
            bytes.len()
        };
        let time = |text: &str| text.parse::<Instant>().expect("a time");
        assert_eq!(bytes(&|w| w.number(127)), 1);
        assert_eq!(bytes(&|w| w.time(time("2026-03-01T10:00:00Z"))), 6);
        assert_eq!(bytes(&|w| w.time(time("2026-03-01T10:00:00.999Z"))), 7);
        assert_eq!(bytes(&|w| w.text("pkt_1")), 6);
    }

    #[test]
    fn bytes_that_end_too_early_are_read_as_nothing() {
        let mut reader = Reader(&[0xff]);
        assert_eq!((reader.number(), reader.count(), reader.text(), reader.byte()), (0x7f, 0, "", 0));
        assert_eq!(reader.time(), Instant::default());
        assert_eq!(Reader(&[9, b'a']).text(), "a");
        assert_eq!(Reader(&[1, 0xff]).text(), "", "not UTF-8");
        assert_eq!(Reader(&[0xff; 20]).number(), u64::MAX, "more bits than a number has");
    }
}
