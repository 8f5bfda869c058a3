//! Timestamps: RFC 3339 text with its original offset, and the instant that it denotes.
//!
//! The rules are those of the official JSON Schema test suite's `date-time` cases (D2): four-digit years, a mandatory offset, `T`
//! and `Z` in either case, and a leap second only at 23:59:60 UTC. This module never reads a clock.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::time::SystemTime;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use wide::u8x32;

use crate::scalar::Invalid;

/// Marker for the machine's clock. Episodes and gates each implement how to read it.
///
/// ```
/// let clock = omen_types::time::SystemClock::default();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock(());

/// Point in time with a resolution of 10⁻¹⁸ s. Finer fractions are truncated.
///
/// A leap second counts as the first second of the next minute, as in POSIX time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    seconds: i64,
    attos: u64,
}

impl Instant {
    /// Returns the instant that is a number of seconds, and a fraction in 10⁻¹⁸ s, after 1970-01-01T00:00:00Z. A
    /// fraction of a second or more is carried over. Saturates far outside the years that can be written.
    #[must_use]
    pub fn from_unix(seconds: i64, attos: u64) -> Self {
        const ONE: u64 = 1_000_000_000_000_000_000;
        let whole = i64::try_from(attos / ONE).unwrap_or(i64::MAX);
        Self { seconds: seconds.saturating_add(whole), attos: attos % ONE }
    }

    /// Returns the seconds since 1970-01-01T00:00:00Z, rounded down.
    #[must_use]
    pub fn unix_seconds(self) -> i64 {
        self.seconds
    }

    /// Returns the fraction of a second after [`unix_seconds`](Self::unix_seconds), in 10⁻¹⁸ s.
    #[must_use]
    pub fn attos(self) -> u64 {
        self.attos
    }

    /// Returns the instant that is a number of seconds later. Saturates far outside the years that can be written.
    #[must_use]
    pub fn plus_seconds(self, seconds: u64) -> Self {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        Self { seconds: self.seconds.saturating_add(seconds), ..self }
    }

    /// Returns the duration from `earlier` to this instant; negative if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Span {
        let seconds = i128::from(self.seconds) - i128::from(earlier.seconds);
        Span(seconds * ATTOS + i128::from(self.attos) - i128::from(earlier.attos))
    }
}

/// Converts with nanosecond resolution, for a program's own clock or a file time.
impl From<SystemTime> for Instant {
    fn from(time: SystemTime) -> Self {
        let (since, is_before) = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => (since, false),
            Err(before) => (before.duration(), true),
        };
        let attos = i128::from(since.as_secs()) * ATTOS + i128::from(since.subsec_nanos()) * (ATTOS / 1_000_000_000);
        let attos = if is_before { -attos } else { attos };
        // The fraction counts upwards from the whole second, even before 1970.
        let seconds = i64::try_from(attos.div_euclid(ATTOS)).unwrap_or(if is_before { i64::MIN } else { i64::MAX });
        Self { seconds, attos: u64::try_from(attos.rem_euclid(ATTOS)).unwrap_or_default() }
    }
}

/// Duration with a resolution of 10⁻¹⁸ s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(i128);

impl Span {
    /// Returns whether this is longer than a whole number of seconds.
    #[must_use]
    pub fn exceeds_seconds(self, seconds: u64) -> bool {
        self.0 > i128::from(seconds) * ATTOS
    }
}

/// Formats seconds with up to three decimals: `12`, `0.5`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0 / (ATTOS / 1000);
        let (sign, millis) = if millis < 0 { ("-", -millis) } else { ("", millis) };
        write!(f, "{sign}{}", millis / 1000)?;
        match millis % 1000 {
            0 => Ok(()),
            rest => f.write_str(format!(".{rest:03}").trim_end_matches('0')),
        }
    }
}

/// Formats in UTC, with all significant decimals: `2026-03-01T10:00:00Z`.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.seconds.div_euclid(86_400), self.seconds.rem_euclid(86_400));
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.attos != 0 {
            f.write_str(".")?;
            f.write_str(format!("{:018}", self.attos).trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

/// RFC 3339 timestamp that keeps its original offset and text.
///
/// Two timestamps are equal if their texts are; compare [`Timestamp::instant`] to compare times.
#[derive(Clone, Debug)]
pub struct Timestamp {
    text: Box<str>,
    instant: Instant,
}

impl Timestamp {
    /// Checks and wraps a text.
    ///
    /// # Errors
    /// If it is not an RFC 3339 timestamp with an offset.
    pub fn new(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        match parse(&text) {
            Some(instant) => Ok(Self { text: text.into_boxed_str(), instant }),
            None => Err(Invalid::new("Timestamp", EXPECTS, text)),
        }
    }

    /// Returns the original text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the instant.
    #[must_use]
    pub fn instant(&self) -> Instant {
        self.instant
    }
}

impl From<Instant> for Timestamp {
    fn from(instant: Instant) -> Self {
        Self { text: instant.to_string().into_boxed_str(), instant }
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        Instant::from(time).into()
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Timestamp {}

impl Hash for Timestamp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Timestamp {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

impl TryFrom<&str> for Timestamp {
    type Error = Invalid;

    fn try_from(text: &str) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

impl FromStr for Instant {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse(text).ok_or_else(|| Invalid::new("Timestamp", EXPECTS, text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// Returns whether a text is an RFC 3339 `date-time`.
pub(crate) fn is_date_time(text: &str) -> bool {
    parse(text).is_some()
}

/// Parses an RFC 3339 `date-time`; `None` if the text is invalid.
pub(crate) fn parse(text: &str) -> Option<Instant> {
    let (date, rest) = text.as_bytes().split_first_chunk::<19>()?;
    let &[y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T' | b't', h1, h2, b':', mi1, mi2, b':', s1, s2] = date
    else {
        return None;
    };
    let mut digits = Digits::default();
    let year = digits.pair(y1, y2) * 100 + digits.pair(y3, y4);
    let date = (year, digits.pair(mo1, mo2), digits.pair(d1, d2));
    let time = (digits.pair(h1, h2), digits.pair(mi1, mi2), digits.pair(s1, s2));
    let (attos, rest) = fraction(rest)?;
    let offset = match *rest {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (digits.pair(h1, h2), digits.pair(m1, m2));
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = i64::from(hours * 3600 + minutes * 60);
            if sign == b'+' { seconds } else { -seconds }
        }
        _ => return None,
    };
    if digits.are_all() { instant(date, time, offset, attos) } else { None }
}

/// Number of bytes that [`parse_quoted`] reads.
pub(crate) const WINDOW: usize = 32;

/// Parses a `date-time` in the form that most programs write: in quotes, in UTC, with at most nine decimals. Returns
/// the instant and the length of the text; `None` for any other form, which may still be valid.
#[inline]
pub(crate) fn parse_quoted(window: &[u8; WINDOW]) -> Option<(Instant, usize)> {
    const FORM: &[u8; WINDOW] = b"\"####-##-##T##:##:##            ";
    const MARKS: u32 = places(FORM, b'#') & DATE;
    const DIGITS: u32 = !places(FORM, b'#') & DATE;
    const DATE: u32 = (1 << 20) - 1;
    let bytes = u8x32::new(*window);
    let marks = bytes.simd_eq(u8x32::new(*FORM)).to_bitmask();
    let digits = bytes.max(u8x32::splat(b'0')).min(u8x32::splat(b'9')).simd_eq(bytes).to_bitmask();
    if marks & MARKS != MARKS || digits & DIGITS != DIGITS {
        return None;
    }
    let pair = |at: usize| match window.get(at..) {
        Some([tens, ones, ..]) => u32::from(tens & 15) * 10 + u32::from(ones & 15),
        _ => 0,
    };
    let date = (pair(1) * 100 + pair(3), pair(6), pair(9));
    let time = (pair(12), pair(15), pair(18));
    let decimals = match window[20] {
        b'.' => (!(digits >> 21)).trailing_zeros() as usize,
        _ => 0,
    };
    let end = if decimals > 0 { 21 + decimals } else { 20 };
    if decimals > 9 || window.get(end..end + 2) != Some(b"Z\"") {
        return None;
    }
    let (attos, _) = fraction(window.get(20..end)?)?;
    Some((instant(date, time, 0, attos)?, end + 2))
}

/// Returns a bit for each position at which the byte differs from `byte`.
const fn places(form: &[u8; WINDOW], byte: u8) -> u32 {
    let (mut places, mut at, mut rest) = (0, 0, form.as_slice());
    while let [first, others @ ..] = rest {
        if *first != byte {
            places |= 1 << at;
        }
        (at, rest) = (at + 1, others);
    }
    places
}

/// Returns the instant of a date and time of day on a clock that is `offset` seconds ahead of UTC.
#[inline]
fn instant(
    (year, month, day): (u32, u32, u32),
    (hour, minute, second): (u32, u32, u32),
    offset: i64,
    attos: u64,
) -> Option<Instant> {
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let minutes = i64::from(hour * 3600 + minute * 60) - offset;
    // A leap second is inserted only at the end of a UTC day.
    if second == 60 && minutes.rem_euclid(86_400) != 86_340 {
        return None;
    }
    Some(Instant { seconds: days_from_civil(year, month, day) * 86_400 + minutes + i64::from(second), attos })
}

/// Parser for digits that checks only at the end whether all were digits: every line of a log has several timestamps.
#[derive(Default)]
struct Digits {
    /// Greatest difference between any byte and `0`.
    greatest: u8,
}

impl Digits {
    #[inline(always)]
    fn pair(&mut self, tens: u8, ones: u8) -> u32 {
        let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
        self.greatest = self.greatest.max(tens).max(ones);
        u32::from(tens) * 10 + u32::from(ones)
    }

    fn are_all(&self) -> bool {
        self.greatest <= 9
    }
}

fn fraction(rest: &[u8]) -> Option<(u64, &[u8])> {
    let Some((b'.', digits)) = rest.split_first() else { return Some((0, rest)) };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let (digits, rest) = digits.split_at_checked(count)?;
    let kept = digits.iter().take(DECIMALS);
    let value = kept.clone().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    let missing = DECIMALS - kept.len();
    Some((value * TENS.get(missing)?, rest))
}

/// Number of decimals that an instant can hold.
const DECIMALS: usize = 18;

/// Powers of ten.
const TENS: [u64; DECIMALS] = [
    1,
    10,
    100,
    1000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    10_000_000_000,
    100_000_000_000,
    1_000_000_000_000,
    10_000_000_000_000,
    100_000_000_000_000,
    1_000_000_000_000_000,
    10_000_000_000_000_000,
    100_000_000_000_000_000,
];

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Returns the days since 1970-01-01 in the proleptic Gregorian calendar.
fn days_from_civil(year: u32, month: u32, day: u32) -> i64 {
    // Years start in March here, so that the leap day comes last. 400 years are added so that no year is negative.
    let year = year + 400 - u32::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    i64::from(era * 146_097 + day_of_era) - 719_468 - 146_097
}

/// Inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

impl PartialOrd for Timestamp {
    /// Compares by instant; two texts for one instant are not ordered.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.instant.cmp(&other.instant) {
            Ordering::Equal if self.text != other.text => None,
            order => Some(order),
        }
    }
}

pub(crate) const EXPECTS: &str = "an RFC 3339 timestamp with an offset, e.g. `2026-03-01T10:00:00Z`";

const ATTOS: i128 = 1_000_000_000_000_000_000;

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_read_agree() {
        let forms = [
            "2026-03-01T10:00:00Z",
            "2024-02-29T23:59:59.123456789Z",
            "1998-12-31T23:59:60Z",
            "0000-01-01T00:00:00.5Z",
        ];
        for form in forms {
            for at in 0..form.len() {
                for byte in 0..128_u8 {
                    let changed = |(place, old)| if place == at { char::from(byte) } else { old };
                    let text: String = form.chars().enumerate().map(changed).collect();
                    let mut window = [b','; WINDOW];
                    let quoted = format!("\"{text}\"");
                    let Some(place) = window.get_mut(..quoted.len()) else { continue };
                    place.copy_from_slice(quoted.as_bytes());
                    if let Some(found) = parse_quoted(&window) {
                        assert_eq!(Some(found), parse(&text).map(|instant| (instant, quoted.len())), "{text}");
                    } else {
                        let is_common = !text.contains(['t', 'z', '"', '+']);
                        assert!(!is_common || parse(&text).is_none(), "{text}");
                    }
                }
            }
        }
    }

    #[track_caller]
    fn same(a: &str, b: &str) {
        assert_eq!(parse(a).expect(a), parse(b).expect(b));
    }

    #[test]
    fn offsets_name_the_same_instant() {
        same("2026-03-01T10:00:00Z", "2026-03-01T12:30:00+02:30");
        same("1998-12-31T23:59:60Z", "1999-01-01T00:00:00Z");
        same("1998-12-31T15:59:60.5-08:00", "1999-01-01t00:00:00.5z");
        same("2026-03-01T10:00:00.000Z", "2026-03-01T10:00:00-00:00");
    }

    #[test]
    fn the_test_suite_refuses_these() {
        for text in [
            "2026-03-01T10:00:00",
            "2026-03-01 10:00:00Z",
            "2026-02-29T10:00:00Z",
            "2026-13-01T10:00:00Z",
            "1998-12-31T23:58:60Z",
            "1998-12-31T22:59:60Z",
            "1998-12-31T23:59:61Z",
            "2026-03-01T24:00:00Z",
            "2026-03-01T10:00:00+24:00",
            "2026-03-01T10:00:00+02",
            "2026-03-01T10:00:00.Z",
            "2026-060T10:00:00Z",
            "2026-03-0\u{0967}T10:00:00Z",
            "2026-03-01T10:00:00Z\n",
            "12026-03-01T10:00:00Z",
            "2026-03-01T10:00:00ZZ",
            "",
            "Z",
            "2026-03-01T10:00:00+0200",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn display_is_the_inverse() {
        let days = (-719_528..2_932_897).step_by(97);
        for day in days {
            let instant = Instant { seconds: day * 86_400 + 86_399, attos: 0 };
            assert_eq!(parse(&instant.to_string()), Some(instant));
        }
        let fine = "2026-03-01T10:00:00.000000000000000001Z";
        assert_eq!(parse(fine).map(|i| i.to_string()).as_deref(), Some(fine));
    }

    #[test]
    fn spans_compare_exactly() {
        let at = |text: &str| parse(text).expect(text);
        let span = at("2026-03-01T10:00:30.25Z").since(at("2026-03-01T10:00:00Z"));
        assert!(span.exceeds_seconds(30) && !span.exceeds_seconds(31));
        assert_eq!(span.to_string(), "30.25");
        assert!(!at("2026-03-01T10:00:30Z").since(at("2026-03-01T10:00:00Z")).exceeds_seconds(30));
    }
}
