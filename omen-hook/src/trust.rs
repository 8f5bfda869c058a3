//! Trust of an agent in its hooks: it runs those whose definition its user has confirmed, and no others.

use std::collections::BTreeMap;
use std::path::Path;

use omen_base::canonical;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call_key::digest;
use crate::install::SettingsPlace;

/// Store in which an agent keeps the hooks that its user has confirmed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TrustStore {
    /// File of the store.
    pub at: SettingsPlace,
    /// Pointer of the table, with a member for each hook.
    pub pointer: String,
    /// Steps by which the user confirms hooks.
    pub how: String,
    /// Timeout of a handler that states none, in seconds.
    default_seconds: u64,
    /// Longest timeouts by event: the agent confirms the timeout that it uses.
    longest_seconds: BTreeMap<String, u64>,
}

impl TrustStore {
    /// Name of a handler in the table: its file, its event, and its place in the list of the event.
    #[must_use]
    pub fn key(&self, file: &Path, event: &str, (element, handler): (usize, usize)) -> String {
        format!("{}:{}:{element}:{handler}", file.display(), label(event))
    }

    /// Hash of the definition of a handler in an element of the list of its event; `None` if it has none.
    #[must_use]
    pub fn hash(&self, event: &str, element: &Value, handler: &Value) -> Option<String> {
        let longest = self.longest_seconds.get(event).copied().unwrap_or(u64::MAX);
        let seconds = handler.get("timeout").map_or(Some(self.default_seconds), Value::as_u64)?.clamp(1, longest);
        let is_async = handler.get("async").and_then(Value::as_bool).unwrap_or_default();
        let mut confirmed = json!({
            "type": handler.get("type")?, "command": handler.get("command")?, "timeout": seconds, "async": is_async,
        });
        if let Some(message) = handler.get("statusMessage").filter(|message| !message.is_null()) {
            confirmed.as_object_mut()?.insert("statusMessage".to_owned(), message.clone());
        }
        let mut group = json!({ "event_name": label(event), "hooks": [confirmed] });
        if let Some(matcher) = element.get("matcher").filter(|matcher| !matcher.is_null()) {
            group.as_object_mut()?.insert("matcher".to_owned(), matcher.clone());
        }
        Some(format!("sha256:{}", digest(&canonical(&group).ok()?)))
    }

    /// Whether the content of the store confirms a handler at its place in a file.
    #[must_use]
    pub fn confirms(
        &self,
        store: &Value,
        file: &Path,
        event: &str,
        (at, element): (usize, &Value),
        (index, handler): (usize, &Value),
    ) -> bool {
        let table = store.pointer(&self.pointer);
        // The agent resolves links in the path of its folder only if a variable names it.
        let mut files = [Some(file.to_owned()), file.canonicalize().ok()].into_iter().flatten();
        let entry = files.find_map(|file| table?.get(self.key(&file, event, (at, index))));
        let is_confirmed = |entry: &Value| {
            let hash = entry.get("trusted_hash").and_then(Value::as_str);
            hash.is_some() && hash == self.hash(event, element, handler).as_deref()
        };
        entry.is_some_and(|entry| is_confirmed(entry) && entry.get("enabled") != Some(&Value::Bool(false)))
    }
}

/// Name of an event in the store, such as `pre_tool_use`.
fn label(event: &str) -> String {
    let mut label = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !label.is_empty() {
            label.push('_');
        }
        label.push(letter.to_ascii_lowercase());
    }
    label
}
