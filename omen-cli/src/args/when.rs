//! A time as an argument: a timestamp, or an age.

use std::time::{Duration, SystemTime};

use omen_types::Instant;

/// A time in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// A time in the form used by log entries, without the `Z`, so that texts compare like times.
    At(String),
    /// A time that lies this long in the past.
    Ago(Duration),
}

impl When {
    /// Returns the time in the form used by log entries, without the `Z`.
    pub(crate) fn text(&self, now: SystemTime) -> String {
        match self {
            Self::At(text) => text.clone(),
            Self::Ago(time) => {
                let since = now.checked_sub(*time).and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
                let seconds = i64::try_from(since.unwrap_or_default().as_secs()).unwrap_or(i64::MAX);
                Instant::from_unix(seconds, 0).to_string().trim_end_matches('Z').to_owned()
            }
        }
    }
}

/// Parses a time in UTC, or an age as a number with a unit: `30s`, `30m`, `2h`, `7d`, `4w`.
pub(crate) fn when(text: &str) -> Result<When, &'static str> {
    const FORM: &[u8] = b"0000-00-00T00:00:00.000";
    if let Some(time) = ago(text) {
        return Ok(When::Ago(time));
    }
    let bare = text.strip_suffix('Z').unwrap_or(text);
    let fits = bare.bytes().zip(FORM).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == *form,
    });
    let ends = [10, 16, 19, 23].contains(&bare.len());
    if fits && ends {
        Ok(When::At(bare.to_owned()))
    } else {
        Err(
            "expected a time in UTC, such as 2026-03-01 or 2026-03-01T10:00:00Z, or how long ago, such as 30m, 2h or 7d",
        )
    }
}

fn ago(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let unit: u64 = match text.strip_prefix(digits)? {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse::<u64>().ok()?.checked_mul(unit).map(Duration::from_secs)).flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::when;

    #[test]
    fn how_long_ago_is_counted_from_now() {
        // 2026-03-01T10:00:00Z.
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1_772_359_200_500);
        for (text, at) in [
            ("0s", "2026-03-01T10:00:00"),
            ("30m", "2026-03-01T09:30:00"),
            ("2h", "2026-03-01T08:00:00"),
            ("7d", "2026-02-22T10:00:00"),
            ("1w", "2026-02-22T10:00:00"),
            ("999999w", "1970-01-01T00:00:00"),
            ("2026-03-01", "2026-03-01"),
            ("2026-03-01T10:00:00.123Z", "2026-03-01T10:00:00.123"),
        ] {
            assert_eq!(when(text).unwrap().text(now), at, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "h",
            "2",
            "2H",
            "2 h",
            "-2h",
            "1.5h",
            "2y",
            "99999999999999999999w",
            "yesterday",
            "2026-3-1",
            "2026-03-01T1",
        ] {
            assert!(when(text).is_err(), "{text}");
        }
    }
}
