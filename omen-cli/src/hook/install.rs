//! `omen hook install`: adds the hook to the settings of an agent, and removes it.

mod json;
mod parts;
mod settings_file;
mod toml;
mod undo;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use omen::render::human::clean;
use omen_gate::Config;
use omen_hook::{Dialect, Hook, InstalledCommand};
use serde_json::{Map, Value};

use self::parts::Parts;
pub(super) use self::settings_file::{SettingsFile, SettingsFormat, read, variable};
use self::undo::Record;
use crate::args::HookInstallArgs;
use crate::exit::{Exit, Failure};
use crate::fix;
use crate::output::Output;
use crate::quoting::shell_word;
use crate::text_edit::{self, Edit};

pub(crate) fn install(args: &HookInstallArgs, out: &mut Output) -> Result<Exit, Failure> {
    let dialect = Dialect::from_agent(&args.agent).map_err(|error| Failure::Usage(error.to_string()))?;
    let project = absolute(args.root.as_deref().unwrap_or(Path::new(".")))?;
    let target = SettingsFile::find(&dialect, args.scope.name(), &project).map_err(Failure::Usage)?;
    if args.write && !args.scope.is_managed() {
        return Err(Failure::Usage(
            "`--write` requires `--scope managed`; other settings are always written".to_owned(),
        ));
    }
    if args.undo {
        return undo::undo(&target, args.dry_run, out);
    }
    let words = words(args, &dialect, &project)?;
    let timeout = args.timeout.unwrap_or(dialect.timeout_seconds);
    let wanted = HookContent::new(&dialect, &target, &words, timeout)?;
    let old = target.read().map_err(|why| wanted.refused(&target, &why))?;
    let text = old.as_deref().unwrap_or_default();
    let (edits, record) = wanted.edits(&dialect, &target, text).map_err(|why| wanted.refused(&target, &why))?;
    let path = target.path.to_string_lossy();
    let path = clean(&path);
    if edits.is_empty() && old.is_some() {
        writeln!(out, "already installed: {path}")?;
        out.flush()?;
        return Ok(Exit::Clean);
    }
    let new = text_edit::apply(text, &edits);
    if args.dry_run {
        let before = old.is_some().then_some(target.path.as_path());
        write!(out, "{}", fix::diff_header(before, Some(&target.path)))?;
        text_edit::hunks(text, &edits, out)?;
        out.flush()?;
        return Ok(Exit::Clean);
    }
    if args.scope.is_managed() && !args.write {
        write!(out, "{new}")?;
        out.flush()?;
        crate::exit::complain(format_args!(
            "note: this is the content of {path}, which requires an administrator; `--write` writes it"
        ));
        return Ok(Exit::Clean);
    }
    let record = record.of_new_file(old.is_none());
    record.write_with(&target, old.as_deref(), &new).map_err(Failure::Usage)?;
    writeln!(out, "installed the hook of {} in {path}", dialect.title)?;
    writeln!(out, "calls may be made below {}", clean(&project.to_string_lossy()))?;
    writeln!(out, "what {} {} guarantees (as of {}):", dialect.title, dialect.seen, dialect.date)?;
    for (subject, holds) in &dialect.guarantees {
        writeln!(out, "  {subject}: {holds}")?;
    }
    writeln!(out, "next:")?;
    for tell in &target.place.tell {
        writeln!(out, "  - {tell}")?;
    }
    writeln!(out, "  - omen hook doctor {}", dialect.agent)?;
    out.flush()?;
    Ok(Exit::Clean)
}

/// Program and arguments of the hook. The configuration is checked: with an invalid one, the agent could call no tool.
fn words(args: &HookInstallArgs, dialect: &Dialect, project: &Path) -> Result<Vec<String>, Failure> {
    args.episode.map_or(Ok(false), super::policy::observes).map_err(Failure::Usage)?;
    let config = absolute(&args.config)?;
    let loaded = Config::load(&config).map_err(|errors| Failure::Usage(super::policy::invalid(&config, &errors)))?;
    Hook::new(dialect.clone(), loaded).map_err(|error| Failure::Usage(error.to_string()))?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::Internal(format!("the path of this program is unknown: {error}")))?;
    let mut words: Vec<String> = vec![utf8(&program)?];
    words.extend(["hook", "run", "--agent", dialect.agent.as_str()].map(str::to_owned));
    let catalog = args.catalog.as_deref().map(absolute).transpose()?;
    let paths = [("--config", Some(config.as_path())), ("--catalog", catalog.as_deref()), ("--root", Some(project))];
    for (option, path) in paths.into_iter().filter_map(|(option, path)| Some((option, path?))) {
        words.extend([option.to_owned(), utf8(path)?]);
    }
    words.extend(args.episode.iter().flat_map(|mode| ["--episode".to_owned(), mode.to_string()]));
    words.extend(args.timeout.iter().flat_map(|seconds| ["--timeout".to_owned(), seconds.to_string()]));
    Ok(words)
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    // Links stay as they are, so that a version behind a link can be replaced.
    std::path::absolute(path)
        .map(|path| path.components().collect())
        .map_err(|error| Failure::Usage(format!("cannot use {}: {error}", path.display())))
}

fn utf8(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control)).map(str::to_owned);
    text.ok_or_else(|| Failure::Usage(format!("the path {} has characters that settings cannot hold", path.display())))
}

/// Command line for a shell.
pub(super) fn line(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// Source of the plug-in for agents that have no hooks of commands.
pub(super) fn plugin(dialect: &Dialect, words: &[String], timeout: u64) -> String {
    let literal = |value: Value| value.to_string();
    PLUGIN
        .replace("$COMMAND", &literal(words.into()))
        .replace("$TIMEOUT", &literal(timeout.into()))
        .replace("$ALLOWED", &literal(dialect.allow().stdout.into()))
}

const PLUGIN: &str = include_str!("../../assets/hooks/opencode.js");

/// What the settings should have.
enum HookContent {
    Parts(SettingsFormat, Parts),
    Plugin(String),
}

impl HookContent {
    fn new(dialect: &Dialect, target: &SettingsFile, words: &[String], timeout: u64) -> Result<Self, Failure> {
        if target.format == SettingsFormat::Script {
            return Ok(Self::Plugin(plugin(dialect, words, timeout)));
        }
        if cfg!(windows) && !dialect.install.shell.is_empty() {
            let message = format!("{} starts hooks with a shell, which is not supported on Windows", dialect.title);
            return Err(Failure::Usage(message));
        }
        let (program, args) = words.split_first().ok_or_else(|| Failure::Internal("no command".to_owned()))?;
        let command = InstalledCommand { program, args, line: &line(words), timeout };
        let parts = Parts { elements: dialect.hook_elements(&command), members: target.place.members.clone() };
        Ok(Self::Parts(target.format, parts))
    }

    /// Edits that install what is missing, and the record that undoes them.
    fn edits(&self, dialect: &Dialect, target: &SettingsFile, text: &str) -> Result<(Vec<Edit>, Record), String> {
        let (format, wanted) = match self {
            Self::Parts(format, parts) => (*format, parts),
            Self::Plugin(source) if text == source => return Ok((Vec::new(), Record::default())),
            Self::Plugin(source) if text.is_empty() => {
                let edits = vec![Edit::insert(0, source)];
                let record = Record::new(&edits, &Value::Null, Parts::default());
                return Ok((edits, record));
            }
            Self::Plugin(_) => return Err("it is another file; undo its installation, or move it away".to_owned()),
        };
        let settings = format.value(text)?;
        let missing = wanted.missing_in(&settings)?;
        if missing.is_empty() {
            return Ok((Vec::new(), Record::default()));
        }
        if let Some(other) = other_hook(dialect, &settings, wanted) {
            return Err(format!(
                "it has another hook of omen, `{}`; undo its installation, or remove it",
                clean(&other)
            ));
        }
        if target.record().exists() {
            return Err(format!(
                "it has changed since the hook was installed; run this with `--undo` first, or remove {}",
                target.record().display()
            ));
        }
        let edits = match format {
            SettingsFormat::Json => json::insert(text, &missing)?,
            _ => toml::insert(text, &missing),
        };
        // What is written has the hook and what was there, or nothing is written.
        let new = text_edit::apply(text, &edits);
        if format.value(&new) != missing.added_to(&settings) {
            return Err("the hook cannot be added without changing the rest".to_owned());
        }
        let record = Record::new(&edits, &settings, missing);
        Ok((edits, record))
    }

    fn refused(&self, target: &SettingsFile, why: &str) -> Failure {
        let snippet = match self {
            Self::Plugin(source) => source.clone(),
            Self::Parts(SettingsFormat::Toml, parts) => text_edit::apply("", &toml::insert("", parts)),
            Self::Parts(_, parts) => parts
                .added_to(&Value::Object(Map::new()))
                .and_then(|value| serde_json::to_string_pretty(&value).map_err(|error| error.to_string()))
                .unwrap_or_default(),
        };
        let path = target.path.display();
        Failure::Usage(format!("cannot edit {path}: {why}; help: insert this yourself:\n{}", snippet.trim_end()))
    }
}

/// Command of a hook of the same agent that this installation would not write.
fn other_hook(dialect: &Dialect, settings: &Value, wanted: &Parts) -> Option<String> {
    let lists = settings.get(parts::HOOKS)?.as_object()?.values().filter_map(Value::as_array);
    let others = lists.flatten().filter(|element| !wanted.elements.iter().any(|(_, wanted)| wanted == *element));
    others.flat_map(|element| dialect.install.handlers(element)).find_map(|handler| {
        let words = command_words(dialect, handler)?;
        is_of(&words, dialect).then(|| words.join(" "))
    })
}

/// Whether a command is `omen hook run` for an agent.
pub(super) fn is_of(words: &[String], dialect: &Dialect) -> bool {
    words.windows(4).any(|four| four == ["hook", "run", "--agent", dialect.agent.as_str()])
}

pub(super) fn command_words(dialect: &Dialect, handler: &Value) -> Option<Vec<String>> {
    match dialect.install.command_of(handler)? {
        (program, Some(args)) => {
            let args = args.iter().map(|arg| arg.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()?;
            Some(std::iter::once(program.to_owned()).chain(args).collect())
        }
        (line, None) => Some(split(line)),
    }
}

/// Words of a command line: plain ones, and those in single quotes.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), None::<String>, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ' ' if !is_quoted => words.extend(word.take()),
            '\\' if !is_quoted => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
