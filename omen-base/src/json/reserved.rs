//! A key that cannot be had.
//!
//! `serde_json` marks values that it passes on to itself with keys of its own. In a text that comes from outside such a
//! key would have what stands below it read once more, as another value than the one that was checked, and as deep as
//! it likes.

const PREFIX: &str = "$serde_json::private::";

pub(super) fn is_reserved(key: &str) -> bool {
    key.starts_with(PREFIX)
}
