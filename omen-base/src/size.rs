//! Size of a value as JSON, computed without storing it.

use std::io;

use serde::Serialize;

/// Returns whether a value has at most `limit` bytes as JSON. Serialization stops at the limit.
///
/// # Errors
/// If the value cannot be serialized as JSON.
pub fn fits(value: &impl Serialize, limit: u64) -> Result<bool, serde_json::Error> {
    match serde_json::to_writer(ByteCounter(limit), value) {
        Ok(()) => Ok(true),
        Err(error) if error.is_io() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writer that counts bytes up to a limit and discards them.
struct ByteCounter(u64);

impl io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = u64::try_from(bytes.len()).ok().and_then(|bytes| self.0.checked_sub(bytes));
        self.0 = left.ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;

    use super::fits;

    #[test]
    fn a_value_fits_to_the_byte() {
        let value = serde_json::json!({ "key": ["ä", 1.5] });
        let bytes = value.to_string().len() as u64;
        assert!(fits(&value, bytes).unwrap());
        assert!(!fits(&value, bytes - 1).unwrap());
        assert!(fits(&BTreeMap::from([([1_u8], 1)]), 100).is_err(), "a list is not a key");
    }
}
