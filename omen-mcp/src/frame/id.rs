//! Request ids.

use std::fmt;

/// Request id by meaning: two spellings of an id are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// An integer within ±(2^53−1).
    Number(i64),
    /// A string.
    Text(Box<str>),
}

/// Prefix for the ids of a proxy's own requests. No other party may use such an id.
pub const OURS: &str = "omen-gate:";

impl Id {
    /// Reads an id: a string, or an integer that every reader interprets alike.
    pub fn read(raw: &str) -> Option<Self> {
        if raw.starts_with('"') {
            return serde_json::from_str::<Box<str>>(raw).ok().map(Self::Text);
        }
        let number: i64 = raw.parse().ok()?;
        // `-0`, `+1` and `01` are other spellings, and some readers round numbers beyond this limit.
        (number.to_string() == raw && number.unsigned_abs() < 1 << 53).then_some(Self::Number(number))
    }

    /// Returns whether the id has the form of a proxy's own ids.
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Text(text) if text.starts_with(OURS))
    }

    /// Returns the number of one of a proxy's own requests.
    pub fn ours(&self) -> Option<u64> {
        let Self::Text(text) = self else { return None };
        let digits = text.strip_prefix(OURS)?;
        digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
    }

    /// Returns the id in JSON.
    pub fn raw(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => serde_json::Value::from(text.as_ref()).to_string(),
        }
    }

    /// Returns the JSON id of one of a proxy's own requests.
    pub fn write(number: u64) -> String {
        format!("\"{OURS}{number}\"")
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(&omen_base::bounded(text)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Id;

    #[test]
    fn an_id_is_read_in_one_way_or_not_at_all() {
        assert_eq!(Id::read("7"), Some(Id::Number(7)));
        assert_eq!(Id::read(r#""\u0037""#), Id::read(r#""7""#));
        assert_ne!(Id::read("7"), Id::read(r#""7""#));
        for raw in
            ["1.0", "1e0", "-0", "01", "+1", "9007199254740993", "99999999999999999999999", "null", "true", "[1]"]
        {
            assert_eq!(Id::read(raw), None, "{raw}");
        }
    }

    #[test]
    fn the_proxys_own_ids_are_numbered() {
        let id = Id::read(&Id::write(12)).unwrap();
        assert_eq!((id.is_ours(), id.ours()), (true, Some(12)));
        for forged in [r#""omen-gate:012""#, r#""omen-gate:x""#, r#""\u006fmen-gate:+1""#] {
            let id = Id::read(forged).unwrap();
            assert_eq!((id.is_ours(), id.ours()), (true, None), "{forged}");
        }
    }
}
