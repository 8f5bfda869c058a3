//! Rehearsals: the policy decides as it does in production, and another log in a folder of its own records it.

use std::fs;
use std::path::Path;

use omen_gate::Config;
use omen_gate::audit::Key;
use omen_gate::config::KeySource;
use omen_hook::{Dialect, EventRole, Hook, HookVerdict, OpenCalls};
use serde_json::{Map, Value};

/// Configuration with a log and a key in a folder. Nothing that it records is signed with the key of the production log.
pub(super) fn config(mut config: Config, folder: &Path) -> Result<Config, String> {
    let key = folder.join("audit.key");
    if !key.exists() {
        Key::create(&key).map_err(|error| error.to_string())?;
    }
    let audit = config.audit.as_mut().ok_or("the configuration has no table `[audit]`")?;
    audit.log = log(folder);
    audit.key = KeySource::File(key);
    audit.require_anchor = None;
    Ok(config)
}

/// Whether the gate has recorded a decision in a folder.
pub(super) fn has_decision(folder: &Path) -> bool {
    fs::read_to_string(log(folder)).is_ok_and(|log| log.contains(r#""kind":"decision""#))
}

fn log(folder: &Path) -> std::path::PathBuf {
    folder.join("audit.jsonl")
}

/// Event before a call that the policy allows without a question, if one is found. `written` is the configuration at `path`.
pub(super) fn allowed_event(
    dialect: &Dialect,
    (path, written): (&Path, &Value),
    policy: &Config,
    root: &Path,
) -> Option<Value> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    candidates(dialect, path, written).into_iter().find_map(|(tool, input)| {
        let event = dialect.sample(EventRole::Before, &tool, input, root)?;
        let folder = tempfile::tempdir().ok()?;
        let hook = Hook::new(dialect.clone(), config(policy.clone(), folder.path()).ok()?).ok()?;
        let variable = |name: &str| dialect.version_variable().filter(|one| one.0 == name).map(|one| one.1.to_owned());
        let read = dialect.read(event.to_string().as_bytes(), variable).ok()?;
        match runtime.block_on(hook.within(root).handle(read)).ok()?.verdict {
            HookVerdict::Allowed(open) => {
                OpenCalls::leave_open(open);
                Some(event)
            }
            _ => None,
        }
    })
}

/// Calls that entries of the allowlist may allow: the arguments are taken from their rules.
fn candidates(dialect: &Dialect, path: &Path, written: &Value) -> Vec<(String, Map<String, Value>)> {
    let tools = dialect.tools();
    let mut found = Vec::new();
    for entry in written.get("allow").and_then(Value::as_array).into_iter().flatten() {
        let is_own = entry.get("server").and_then(Value::as_str) == Some(dialect.agent.as_str());
        let name = entry.get("tool").and_then(Value::as_str).filter(|_| is_own);
        let Some(tool) = tools.iter().find(|tool| Some(tool.name.as_str()) == name) else { continue };
        let required = tool.input_schema.get("required").and_then(Value::as_array);
        let rules = entry.get("where").and_then(Value::as_object);
        let ruled = rules.into_iter().flatten().filter_map(|(place, _)| place.strip_prefix('/'));
        let members =
            required.into_iter().flatten().filter_map(Value::as_str).chain(ruled.filter(|name| !name.contains('/')));
        let members: std::collections::BTreeSet<&str> = members.collect();
        for suffix in ["", " --version", " ."] {
            let value = |name: &str| {
                let rule = rules.and_then(|rules| rules.get(&format!("/{name}")));
                let kind = tool.input_schema.get("properties").and_then(|all| all.get(name)?.get("type")?.get(0));
                (name.to_owned(), sample(rule, kind, path, suffix))
            };
            found.push((tool.name.to_string(), members.iter().map(|name| value(name)).collect()));
        }
    }
    found.truncate(MAX_CANDIDATES);
    found
}

/// Value that a rule may allow, or else one of the type.
fn sample(rule: Option<&Value>, kind: Option<&Value>, config: &Path, suffix: &str) -> Value {
    let first = |value: &Value| value.as_array().map_or(Some(value), |list| list.first()).cloned();
    let rule = |key: &str| rule.and_then(|rule| first(rule.get(key)?));
    let named = rule("equals").or_else(|| rule("in")).or_else(|| rule("min"));
    let program = || {
        let command = rule("command")?;
        let program = command.get("program").and_then(first)?;
        Some(format!("{}{suffix}", program.as_str()?).into())
    };
    let file = || {
        let folder = config.parent()?.join(rule("under")?.as_str()?);
        Some(folder.join(PROBE).to_string_lossy().into())
    };
    named.or_else(program).or_else(file).unwrap_or_else(|| match kind.and_then(Value::as_str) {
        Some("number") => 1.into(),
        Some("boolean") => false.into(),
        Some("array") => Value::Array(Vec::new()),
        Some("object") => Map::new().into(),
        _ => PROBE.into(),
    })
}

/// Name of a file and of a tool that do not exist.
pub(super) const PROBE: &str = "omen-hook-doctor";

/// Most calls that are tried.
const MAX_CANDIDATES: usize = 64;
