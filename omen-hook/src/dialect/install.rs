//! Settings of agents: their location, the form of a hook in them, and the hooks that an agent trusts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omen_base::canonical;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::call_key::digest;

/// Facts about the settings with which an agent registers hooks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InstallForm {
    /// Day on which the facts were collected.
    pub date: String,
    /// Sources of the facts.
    pub sources: Vec<String>,
    /// Settings by scope: `user`, `project` and `managed`.
    pub places: BTreeMap<String, SettingsPlace>,
    /// Settings and variables that disable hooks.
    pub switches: Vec<OffSwitch>,
    /// Command line with which the agent runs a hook's command, in which `$SHELL` is the user's shell; empty for agents that
    /// start the program directly.
    #[serde(default)]
    pub shell: Vec<String>,
    /// Store of confirmed hooks; `None` for agents that run hooks without confirmation.
    pub trust: Option<TrustStore>,
    pub(crate) failures: FailureEffects,
    /// Form of a handler; `None` for agents that load a plug-in instead.
    handler: Option<Value>,
    /// Whether handlers are grouped under a member `hooks`.
    #[serde(default)]
    group: bool,
    /// Members to add to handlers whose failure must refuse the pending action.
    #[serde(default)]
    fail_closed: Map<String, Value>,
    timeout_unit: TimeoutUnit,
}

/// Settings file of a scope.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SettingsPlace {
    /// Folder by operating system, or `any`. `~` is the home folder; relative folders are below the project.
    folder: BTreeMap<String, String>,
    /// Environment variable that moves the folder.
    folder_env: Option<String>,
    file: String,
    /// Members that the file must contain in addition to the hooks.
    #[serde(default)]
    pub members: Map<String, Value>,
    /// Notes for the user after an installation.
    #[serde(default)]
    pub tell: Vec<String>,
}

/// Setting or variable that disables hooks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OffSwitch {
    /// Files that may contain the setting.
    #[serde(default)]
    pub at: Vec<SettingsPlace>,
    /// Pointer to the setting in a file.
    #[serde(default)]
    pub pointer: String,
    /// Environment variable.
    pub env: Option<String>,
    off: Value,
    /// Whether managed hooks run nevertheless.
    #[serde(default)]
    pub spares_managed: bool,
}

/// Effects on a call if the installed hook fails.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailureEffects {
    pub(crate) missing: FailureEffect,
    pub(crate) crash: FailureEffect,
    pub(crate) slow: FailureEffect,
    pub(crate) unreadable: FailureEffect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailureEffect {
    Runs,
    Denies,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TimeoutUnit {
    Seconds,
    Milliseconds,
}

/// Command of a hook, in the forms that agents accept.
#[derive(Clone, Debug)]
pub struct InstalledCommand<'c> {
    /// Path of the program.
    pub program: &'c str,
    /// Arguments.
    pub args: &'c [String],
    /// Program and arguments as one line for a shell.
    pub line: &'c str,
    /// Timeout that the agent applies to the hook, in seconds.
    pub timeout: u64,
}

impl SettingsPlace {
    /// Returns the file's path, if this operating system has one. `variable` looks up an environment variable.
    #[must_use]
    pub fn path(&self, project: &Path, variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(moved) = self.folder_env.as_deref().and_then(set) {
            return Some(project.join(moved).join(&self.file));
        }
        let folder = self.folder.get("any").or_else(|| self.folder.get(std::env::consts::OS))?;
        let home = || set("HOME").or_else(|| set("USERPROFILE"));
        let folder = match folder.strip_prefix("~/") {
            Some(rest) => PathBuf::from(home()?).join(rest),
            None => project.join(folder),
        };
        Some(folder.join(&self.file))
    }
}

impl OffSwitch {
    /// Returns whether a value disables hooks.
    #[must_use]
    pub fn is_off(&self, value: &Value) -> bool {
        *value == self.off || value.as_array().is_some_and(|list| list.contains(&self.off))
    }
}

impl InstallForm {
    /// Returns the timeout of a handler in seconds, if it has one.
    #[must_use]
    pub fn timeout_of(&self, handler: &Value) -> Option<u64> {
        let member = self.handler.as_ref()?.as_object()?.iter().find(|(_, value)| **value == "$timeout")?.0;
        let number = handler.get(member)?.as_u64()?;
        Some(match self.timeout_unit {
            TimeoutUnit::Seconds => number,
            TimeoutUnit::Milliseconds => number / 1000,
        })
    }

    /// Returns the command of a handler: either program and arguments, or a line for a shell and `None`.
    #[must_use]
    pub fn command_of<'h>(&self, handler: &'h Value) -> Option<(&'h str, Option<&'h Vec<Value>>)> {
        let form = self.handler.as_ref()?.as_object()?;
        let at = |placeholder: &str| handler.get(form.iter().find(|(_, value)| **value == placeholder)?.0);
        match at("$program") {
            Some(program) => Some((program.as_str()?, Some(at("$args")?.as_array()?))),
            None => Some((at("$command")?.as_str()?, None)),
        }
    }

    /// Returns the handlers in an element of an event's list.
    pub fn handlers<'e>(&self, element: &'e Value) -> impl Iterator<Item = &'e Value> {
        let (single, several) = match self.group {
            true => (None, element.get("hooks").and_then(Value::as_array)),
            false => (Some(element), None),
        };
        single.into_iter().chain(several.into_iter().flatten())
    }

    /// Returns whether a handler has the members that make its failure refuse the pending action.
    #[must_use]
    pub fn fails_closed(&self, handler: &Value) -> bool {
        self.fail_closed.iter().all(|(name, value)| handler.get(name) == Some(value))
    }

    /// Builds the element for an event's list; `None` for agents that load a plug-in instead. If the hook fails, a binding one
    /// refuses the pending action, provided that the agent has an option for that.
    pub(crate) fn element(&self, command: &InstalledCommand<'_>, is_binding: bool) -> Option<Value> {
        let handler = self.handler.as_ref()?.as_object()?.iter().map(|(name, value)| {
            let value = match value.as_str() {
                Some("$program") => command.program.into(),
                Some("$args") => command.args.into(),
                Some("$command") => command.line.into(),
                Some("$timeout") => match self.timeout_unit {
                    TimeoutUnit::Seconds => command.timeout.into(),
                    TimeoutUnit::Milliseconds => command.timeout.saturating_mul(1000).into(),
                },
                _ => value.clone(),
            };
            (name.clone(), value)
        });
        let mut handler: Map<String, Value> = handler.collect();
        if is_binding {
            handler.extend(self.fail_closed.clone());
        }
        Some(if self.group { serde_json::json!({ "hooks": [handler] }) } else { handler.into() })
    }
}

/// Store in which an agent records the hooks that its user has confirmed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TrustStore {
    /// File of the store.
    pub at: SettingsPlace,
    /// Pointer to the table that has a member for each hook.
    pub pointer: String,
    /// Steps with which the user confirms hooks.
    pub how: String,
    /// Timeout in seconds of a handler that states none.
    default_seconds: u64,
    /// Maximum timeouts by event; the agent applies the limit before it confirms a handler's timeout.
    longest_seconds: BTreeMap<String, u64>,
}

impl TrustStore {
    /// Returns the name of a handler in the table: its file, its event, and its indices in the event's list.
    #[must_use]
    pub fn key(&self, file: &Path, event: &str, (element, handler): (usize, usize)) -> String {
        format!("{}:{}:{element}:{handler}", file.display(), label(event))
    }

    /// Returns the hash of a handler's definition in an element of its event's list; `None` if it is incomplete or invalid.
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

    /// Returns whether the store's content confirms a handler at its position in a file.
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
        // The agent resolves links in its folder's path only if an environment variable names that folder.
        let mut files = [Some(file.to_owned()), file.canonicalize().ok()].into_iter().flatten();
        let entry = files.find_map(|file| table?.get(self.key(&file, event, (at, index))));
        let is_confirmed = |entry: &Value| {
            let hash = entry.get("trusted_hash").and_then(Value::as_str);
            hash.is_some() && hash == self.hash(event, element, handler).as_deref()
        };
        entry.is_some_and(|entry| is_confirmed(entry) && entry.get("enabled") != Some(&Value::Bool(false)))
    }
}

/// Returns the name of an event in the store, such as `pre_tool_use`.
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
