//! Hooks of omen in the settings of an agent, and settings that disable hooks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use omen_hook::{Dialect, EventRole, TrustStore};
use serde_json::Value;

use crate::hook::install::{SettingsFile, SettingsFormat, command_words, is_of, line, plugin, read, variable};

/// Hook of omen in one file.
pub(super) struct Installation {
    pub(super) scope: String,
    pub(super) path: PathBuf,
    /// What is wrong with it as it is written.
    pub(super) flaws: Vec<String>,
    /// Events whose hook the agent does not run until its user confirms it; `None` if it needs no confirmation here.
    pub(super) unconfirmed: Option<Vec<String>>,
    /// Commands that differ from each other.
    pub(super) commands: Vec<HookProcess>,
}

/// Command of an installed hook, as the agent starts it.
pub(super) struct HookProcess {
    pub(super) words: Vec<String>,
    /// The line for a shell, as it is written.
    line: Option<String>,
    /// Timeout of the agent.
    pub(super) limit: Duration,
}

/// Hooks of omen in all settings of an agent.
pub(super) fn installations(dialect: &Dialect, project: &Path) -> Result<Vec<Installation>, String> {
    let mut found = Vec::new();
    for scope in dialect.install.places.keys() {
        let Ok(target) = SettingsFile::find(dialect, scope, project) else { continue };
        let unusable = |why: String| format!("cannot use {}: {why}", target.path.display());
        let Some(text) = read(&target.path).map_err(unusable)? else { continue };
        let mut unconfirmed = None;
        let installation = match target.format {
            SettingsFormat::Script => Some(of_plugin(dialect, &text)),
            format => {
                let settings = format.value(&text).map_err(unusable)?;
                if scope != "managed" {
                    unconfirmed = confirmed_by(dialect, project)?.map(|(trust, store)| {
                        let is_unconfirmed = |hook: &OwnHook<'_>| {
                            let (element, handler) = ((hook.at, hook.element), (hook.index, hook.handler));
                            !trust.confirms(&store, &target.path, hook.event, element, handler)
                        };
                        let hooks = own_hooks(dialect, &settings).filter(is_unconfirmed);
                        hooks.map(|hook| format!("`{}`", hook.event)).collect()
                    });
                }
                of_settings(dialect, &settings)
            }
        };
        let path = target.path.clone();
        found.extend(installation.map(|(flaws, commands)| Installation {
            scope: scope.clone(),
            path,
            flaws,
            unconfirmed,
            commands,
        }));
    }
    Ok(found)
}

/// Store of the hooks that the user has confirmed, with its content, for an agent that has one.
fn confirmed_by<'d>(dialect: &'d Dialect, project: &Path) -> Result<Option<(&'d TrustStore, Value)>, String> {
    let Some(trust) = &dialect.install.trust else { return Ok(None) };
    let Some(path) = trust.at.path(project, variable) else { return Ok(None) };
    let unusable = |why: String| format!("cannot use {}: {why}", path.display());
    let text = read(&path).map_err(unusable)?.unwrap_or_default();
    Ok(Some((trust, SettingsFormat::from_path(&path).value(&text).map_err(unusable)?)))
}

/// Handler of omen in the list of an event.
struct OwnHook<'s> {
    event: &'s str,
    role: EventRole,
    /// Place of the element in the list.
    at: usize,
    element: &'s Value,
    /// Place of the handler in the element.
    index: usize,
    handler: &'s Value,
    words: Vec<String>,
}

/// Handlers of omen in settings, by event.
fn own_hooks<'s>(dialect: &'s Dialect, settings: &'s Value) -> impl Iterator<Item = OwnHook<'s>> {
    dialect.governed_events().flat_map(move |(event, role)| {
        let list = settings.pointer(&format!("/hooks/{event}")).and_then(Value::as_array);
        let elements = list.into_iter().flatten().enumerate();
        let handlers = elements.flat_map(move |(at, element)| {
            dialect.install.handlers(element).enumerate().map(move |(index, handler)| (at, element, index, handler))
        });
        handlers.filter_map(move |(at, element, index, handler)| {
            let words = command_words(dialect, handler).filter(|words| is_of(words, dialect))?;
            Some(OwnHook { event, role, at, element, index, handler, words })
        })
    })
}

type ParsedSettings = (Vec<String>, Vec<HookProcess>);

fn of_settings(dialect: &Dialect, settings: &Value) -> Option<ParsedSettings> {
    let form = &dialect.install;
    let mut commands: Vec<HookProcess> = Vec::new();
    let mut flaws = Vec::new();
    let mut missing: Vec<_> = dialect.governed_events().map(|(event, _)| format!("`{event}`")).collect();
    for OwnHook { event, role, element, handler, words, .. } in own_hooks(dialect, settings) {
        missing.retain(|missing| *missing != format!("`{event}`"));
        if let Some(matcher) = element.get("matcher").filter(|matcher| !["", "*"].map(Value::from).contains(matcher)) {
            flaws.push(format!("`{event}`: the hook is called only for the tools {matcher}; remove `matcher`"));
        }
        if matches!(role, EventRole::Before | EventRole::Settings) && !form.fails_closed(handler) {
            flaws.push(format!("`{event}`: the option to refuse calls if the hook fails is missing"));
        }
        if handler.get("async") == Some(&Value::Bool(true)) {
            flaws.push(format!("`{event}`: an asynchronous hook decides nothing; remove `async`"));
        }
        if !commands.iter().any(|known| known.words == words) {
            let line = form.command_of(handler).filter(|(_, args)| args.is_none()).map(|(line, _)| line.to_owned());
            let limit = Duration::from_secs(form.timeout_of(handler).unwrap_or(dialect.timeout_seconds));
            commands.push(HookProcess { words, line, limit });
        }
    }
    if commands.is_empty() {
        return None;
    }
    if !missing.is_empty() {
        flaws.push(format!("no hook for {}", missing.join(", ")));
    }
    Some((flaws, commands))
}

/// Command of the plug-in. It decides only in the form in which it was written.
fn of_plugin(dialect: &Dialect, text: &str) -> ParsedSettings {
    let constant = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("const {name} = ")))?;
        serde_json::from_str::<Value>(line.strip_suffix(';')?).ok()
    };
    let words = constant("COMMAND").and_then(|words| serde_json::from_value::<Vec<String>>(words).ok());
    let seconds = constant("TIMEOUT_SECONDS").and_then(|seconds| seconds.as_u64());
    match (words, seconds) {
        (Some(words), Some(seconds)) => {
            let is_intact = plugin(dialect, &words, seconds) == text;
            let flaw = "the plug-in differs from the one that this version writes".to_owned();
            (
                (!is_intact).then_some(flaw).into_iter().collect(),
                vec![HookProcess { words, line: None, limit: Duration::from_secs(seconds) }],
            )
        }
        _ => (vec!["the plug-in was not written by omen".to_owned()], Vec::new()),
    }
}

impl HookProcess {
    /// Words of the process that the agent starts, with more arguments.
    pub(super) fn started(&self, dialect: &Dialect, more: &[String]) -> Vec<String> {
        let Some(written) = &self.line else { return self.words.iter().chain(more).cloned().collect() };
        let user_shell = || variable("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".to_owned());
        let shell = dialect.install.shell.iter();
        let shell = shell.map(|word| if word == "$SHELL" { user_shell() } else { word.clone() });
        shell.chain([format!("{written} {}", line(more))]).collect()
    }
}

/// Settings and variables that currently disable hooks.
pub(super) fn switches(dialect: &Dialect, project: &Path, is_managed: bool) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for switch in dialect.install.switches.iter().filter(|switch| !(is_managed && switch.spares_managed)) {
        if let Some(name) =
            switch.env.as_deref().filter(|name| variable(name).is_some_and(|value| switch.is_off(&value.into())))
        {
            found.push(format!("the variable `{name}` disables hooks"));
        }
        for path in switch.at.iter().filter_map(|place| place.path(project, variable)) {
            let unusable = |why: String| format!("cannot use {}: {why}", path.display());
            let Some(text) = read(&path).map_err(unusable)? else { continue };
            let settings = SettingsFormat::from_path(&path).value(&text).map_err(unusable)?;
            if settings.pointer(&switch.pointer).is_some_and(|value| switch.is_off(value)) {
                let setting = switch.pointer.trim_start_matches('/').replace('/', ".");
                found.push(format!("`{setting}` in {} disables hooks", path.display()));
            }
        }
    }
    Ok(found)
}
