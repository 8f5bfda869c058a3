//! Refusal of calls that could free an agent from its gate, because they touch agents' settings or the gate's files.

use std::path::{Path, PathBuf};

use omen_base::bounded;
use omen_gate::{Demand, Permission};
use serde_json::{Map, Value};

use super::gate_files::GateFiles;
use super::paths::{resolved, unquoted};
use super::{CallError, HookCall, names_settings};
use crate::dialect::{Dialect, ToolForm};

impl Dialect {
    /// Refuses a call that touches the gate's files, or a call of another server's tool that touches agents' settings.
    pub(crate) fn guard(
        &self,
        call: &HookCall,
        cwd: &Path,
        files: &GateFiles,
        demand: Option<&Demand>,
    ) -> Result<(), CallError> {
        let file = match self.form_of(&call.tool) {
            Some(form) => touched(form, &call.args, cwd, files),
            None => touched_by_other(&call.args, cwd, files, demand)?,
        };
        file.map_or(Ok(()), |file| Err(CallError::GateFile(bounded(&file.to_string_lossy()))))
    }
}

/// Returns the gate's file that a tool of the agent would touch: write it, name it in a command, or read it if it is a secret.
fn touched<'f>(form: &ToolForm, args: &Map<String, Value>, cwd: &Path, files: &'f GateFiles) -> Option<&'f Path> {
    let text = |member: &str| args.get(member).and_then(Value::as_str);
    // In the arguments for a patched file, the member with the path has a fixed name.
    let path = if form.patch.is_some() { Some("path") } else { form.path.as_deref() };
    if let Some(path) = path.and_then(text) {
        let path = cwd.join(path);
        return if form.writes { files.at(&path) } else { files.secret_at(&path) };
    }
    if let Some(command) = form.shell.as_deref().and_then(text) {
        return files.named_in(&unquoted(command));
    }
    strings(args).into_iter().find_map(|text| files.secret_at(&path_of(cwd, text)?))
}

/// Returns the gate's file that a tool of another server would touch. It is unknown which arguments are paths or commands, so
/// each text is treated as both. A tool that only reads may read everything except the secrets.
fn touched_by_other<'f>(
    args: &Map<String, Value>,
    cwd: &Path,
    files: &'f GateFiles,
    demand: Option<&Demand>,
) -> Result<Option<&'f Path>, CallError> {
    let changes =
        |demand: &Demand| [Permission::Write, Permission::Execute].map(|one| demand.permissions.contains(one));
    let is_reader = demand.is_some_and(|demand| changes(demand) == [false, false]);
    for text in strings(args) {
        let (plain, path) = (unquoted(text), path_of(cwd, text));
        let path = path.as_deref();
        let file = if is_reader {
            files.secret_named_in(text).or_else(|| files.secret_named_in(&plain)).or_else(|| files.secret_at(path?))
        } else {
            let linked = || names_settings(&resolved(path?).to_string_lossy());
            if let Some(part) = names_settings(text).or_else(|| names_settings(&plain)).or_else(linked) {
                return Err(CallError::Settings(part));
            }
            files.named_in(text).or_else(|| files.named_in(&plain)).or_else(|| files.at(path?))
        };
        if file.is_some() {
            return Ok(file);
        }
    }
    Ok(None)
}

/// Interprets a whole text as a path, unless it is too long for one.
fn path_of(cwd: &Path, text: &str) -> Option<PathBuf> {
    (text.len() <= MAX_PATH_BYTES).then(|| cwd.join(text))
}

/// Returns all strings in the arguments, at any depth.
fn strings(args: &Map<String, Value>) -> Vec<&str> {
    let (mut found, mut rest): (Vec<_>, Vec<_>) = (Vec::new(), args.values().collect());
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) => found.push(text.as_str()),
            Value::Array(items) => rest.extend(items),
            Value::Object(members) => rest.extend(members.values()),
            _ => {}
        }
    }
    found
}

/// Maximum path length in bytes on the systems on which agents run.
const MAX_PATH_BYTES: usize = 32 << 10;
