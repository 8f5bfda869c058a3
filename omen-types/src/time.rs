//! Timestamps: RFC 3339 text that keeps its offset, and the instant that it names.
//!
//! The rules are those of the official JSON Schema test suite's `date-time` cases (D2): four-digit
//! years, a mandatory offset, `T` and `Z` in either case, and a leap second only where one can be,
//! at 23:59:60 UTC. No clock is ever read here.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::time::SystemTime;

use serde::{Serialize, Serializer};

use crate::scalar::Invalid;

/// A point on the time line, to 10⁻¹⁸ s. Finer fractions are cut off.
///
/// A leap second counts as the first second of the next minute, as POSIX time has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    seconds: i64,
    attos: u64,
}

impl Instant {
    /// The instant so many seconds, and a fraction in 10⁻¹⁸ s, after 1970-01-01T00:00:00Z. A fraction of a second or more counts
    /// in full; saturates far outside the years that can be written.
    #[must_use]
    pub fn from_unix(seconds: i64, attos: u64) -> Self {
        const ONE: u64 = 1_000_000_000_000_000_000;
        let whole = i64::try_from(attos / ONE).unwrap_or(i64::MAX);
        Self { seconds: seconds.saturating_add(whole), attos: attos % ONE }
    }

    /// Seconds since 1970-01-01T00:00:00Z, rounded down.
    #[must_use]
    pub fn unix_seconds(self) -> i64 {
        self.seconds
    }

    /// The rest of a second after [`unix_seconds`](Self::unix_seconds), in 10⁻¹⁸ s.
    #[must_use]
    pub fn attos(self) -> u64 {
        self.attos
    }

    /// The instant a number of seconds later; saturates far outside the years that can be written.
    #[must_use]
    pub fn plus_seconds(self, seconds: u64) -> Self {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        Self { seconds: self.seconds.saturating_add(seconds), ..self }
    }

    /// How long after `earlier` this is; negative if it is before.
    #[must_use]
    pub fn since(self, earlier: Self) -> Span {
        let seconds = i128::from(self.seconds) - i128::from(earlier.seconds);
        Span(seconds * ATTOS + i128::from(self.attos) - i128::from(earlier.attos))
    }
}

/// To the nanosecond. For a program's own clock, or a file's time.
impl From<SystemTime> for Instant {
    fn from(time: SystemTime) -> Self {
        let (since, is_before) = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => (since, false),
            Err(before) => (before.duration(), true),
        };
        let attos = i128::from(since.as_secs()) * ATTOS + i128::from(since.subsec_nanos()) * (ATTOS / 1_000_000_000);
        let attos = if is_before { -attos } else { attos };
        // A fraction counts upwards from the whole second, before 1970, too.
        let seconds = i64::try_from(attos.div_euclid(ATTOS)).unwrap_or(if is_before { i64::MIN } else { i64::MAX });
        Self { seconds, attos: u64::try_from(attos.rem_euclid(ATTOS)).unwrap_or_default() }
    }
}

/// A length of time, to 10⁻¹⁸ s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(i128);

impl Span {
    /// Whether this is longer than a whole number of seconds.
    #[must_use]
    pub fn exceeds_seconds(self, seconds: u64) -> bool {
        self.0 > i128::from(seconds) * ATTOS
    }
}

/// In seconds, with up to three decimals: `12`, `0.5`.
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

/// In UTC, with as many decimals as it has: `2026-03-01T10:00:00Z`.
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

/// An RFC 3339 timestamp, offset and text kept as they were written.
///
/// Two timestamps are equal if their texts are; compare [`Timestamp::instant`] to compare times.
#[derive(Clone, Debug)]
pub struct Timestamp {
    text: Box<str>,
    instant: Instant,
}

impl Timestamp {
    /// Checks and keeps a text.
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

    /// The text as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The instant that it names.
    #[must_use]
    pub fn instant(&self) -> Instant {
        self.instant
    }

    pub(crate) fn trusted(text: String, instant: Instant) -> Self {
        Self { text: text.into_boxed_str(), instant }
    }
}

impl From<Instant> for Timestamp {
    fn from(instant: Instant) -> Self {
        Self { text: instant.to_string().into_boxed_str(), instant }
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

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// Whether a text is an RFC 3339 `date-time`.
pub(crate) fn is_date_time(text: &str) -> bool {
    parse(text).is_some()
}

/// Reads an RFC 3339 `date-time`; `None` if the text is not one.
pub(crate) fn parse(text: &str) -> Option<Instant> {
    let bytes = text.as_bytes();
    let (date, rest) = bytes.split_at_checked(19)?;
    let &[y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T' | b't', h1, h2, b':', mi1, mi2, b':', s1, s2] = date
    else {
        return None;
    };
    let year = pair(y1, y2)? * 100 + pair(y3, y4)?;
    let (month, day) = (pair(mo1, mo2)?, pair(d1, d2)?);
    let (hour, minute, second) = (pair(h1, h2)?, pair(mi1, mi2)?, pair(s1, s2)?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (attos, rest) = fraction(rest)?;
    let offset = match *rest {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (pair(h1, h2)?, pair(m1, m2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = hours * 3600 + minutes * 60;
            if sign == b'+' { seconds } else { -seconds }
        }
        _ => return None,
    };
    let minutes = hour * 3600 + minute * 60 - offset;
    // A leap second is inserted at the end of a UTC day and nowhere else.
    if second == 60 && minutes.rem_euclid(86_400) != 86_340 {
        return None;
    }
    Some(Instant { seconds: days_from_civil(year, month, day) * 86_400 + minutes + second, attos })
}

fn pair(tens: u8, ones: u8) -> Option<i64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

fn fraction(rest: &[u8]) -> Option<(u64, &[u8])> {
    let Some((b'.', digits)) = rest.split_first() else { return Some((0, rest)) };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let (digits, rest) = digits.split_at_checked(count)?;
    let mut attos = 0;
    let mut unit = 100_000_000_000_000_000;
    for digit in digits {
        attos += u64::from(digit - b'0') * unit;
        unit /= 10;
    }
    Some((attos, rest))
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The inverse of [`days_from_civil`].
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
    /// By instant; two texts for one instant are not ordered.
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
