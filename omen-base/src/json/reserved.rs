//! Keys reserved by `serde_json`.
//!
//! `serde_json` uses keys of its own to pass values to itself. In a foreign text, such a key would make it parse the
//! value below again: to another value than the one that was checked, and without the depth limit.

const PREFIX: &str = "$serde_json::private::";

pub(super) fn is_reserved(key: &str) -> bool {
    key.starts_with(PREFIX)
}
