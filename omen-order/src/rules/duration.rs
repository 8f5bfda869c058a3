//! Durations, in the form of configurations.

/// Units in milliseconds, longest first.
const UNITS: [(&str, u64); 4] = [("day", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)];

/// Longest window: 31 days.
pub const MAX_WINDOW_MS: u64 = 31 * 86_400_000;

/// Parses a duration such as `30s`, `10min`, `24h` or `7day`, in milliseconds. `100ms` and `0s` are valid only for
/// waiting settings.
#[must_use]
pub fn duration(text: &str, is_setting: bool) -> Option<u64> {
    let (count, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    if count.is_empty() || (count.len() > 1 && count.starts_with('0')) {
        return None;
    }
    let factor = match UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => *factor,
        None if unit == "ms" && is_setting => 1,
        None => return None,
    };
    let ms = count.parse::<u64>().ok()?.checked_mul(factor)?;
    (ms <= MAX_WINDOW_MS && (is_setting || ms > 0)).then_some(ms)
}

/// Formats a duration for a reader, rounded down to two units: `14 min`, `2 h 5 min`.
#[must_use]
pub fn shown(ms: u64) -> String {
    if ms < 1000 {
        return format!("{ms} ms");
    }
    let mut parts = Vec::new();
    let mut rest = ms;
    for (name, unit) in UNITS {
        let count = rest / unit;
        rest %= unit;
        if count > 0 {
            let name = if name == "day" && count > 1 { "days" } else { name };
            parts.push(format!("{count} {name}"));
        }
        if parts.len() == 2 || (parts.len() == 1 && count == 0) {
            break;
        }
    }
    parts.join(" ")
}
