//! Servers in the configuration of a client.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use omen::render::human::clean;
use omen_gate::ServerName;

use super::configured::{self, ConfiguredServer, Reach};
use crate::gate::commands::folders;
use crate::jsonc;
use crate::quoting::shell_word;
use crate::text_edit::Edit;

/// Placeholder for the server name.
pub(super) const SERVER: &str = "{server}";

/// Names of the table in which clients list servers.
const TABLES: [&str; 2] = ["mcpServers", "servers"];

/// Options for wrapping servers.
pub(super) struct WrapOptions<'a> {
    pub(super) omen: PathBuf,
    pub(super) config: String,
    /// Servers to wrap; if empty, all of them.
    pub(super) only: &'a [ServerName],
}

pub(super) struct Server {
    name: String,
    pub(super) outcome: WrapOutcome,
}

/// Result for one server.
pub(super) enum WrapOutcome {
    Wrapped {
        edits: Vec<Edit>,
        config: PathBuf,
        command: Vec<String>,
        /// Names of the environment variables that the client sets.
        variables: Vec<String>,
        configured: ConfiguredServer,
    },
    /// It is already behind a gate.
    Before,
    Not {
        why: String,
    },
}

impl WrapOptions<'_> {
    /// Finds the servers in file order, each with the edits that wrap it.
    pub(super) fn read(&self, text: &str) -> Result<Vec<Server>, String> {
        let parsed = jsonc::parse(text)?;
        let Some(Value::Object(root)) = parsed.value else { return Err("expected a JSON object".to_owned()) };
        refuse_repeated(&root, "the file")?;
        let tables: Vec<_> = TABLES.iter().filter_map(|name| root.get(name)).collect();
        let table = match tables[..] {
            [table] => table,
            [] => return Err("it has neither `mcpServers` nor `servers`".to_owned()),
            _ => return Err("it has both `mcpServers` and `servers`".to_owned()),
        };
        let Value::Object(servers) = &table.value else {
            return Err(format!("expected an object for `{}`", table.name.as_str()));
        };
        refuse_repeated(servers, table.name.as_str())?;
        if let Some(missing) = self.only.iter().find(|name| servers.get(name.as_str()).is_none()) {
            return Err(format!("it has no server `{missing}`"));
        }
        let wanted = |name: &str| self.only.is_empty() || self.only.iter().any(|only| only.as_str() == name);
        let of = |server: &ObjectProp<'_>| {
            let name = server.name.as_str().to_owned();
            let outcome = self.outcome(text, &name, &server.value);
            Server { outcome: outcome.unwrap_or_else(|why| WrapOutcome::Not { why }), name }
        };
        Ok(servers.properties.iter().filter(|server| wanted(server.name.as_str())).map(of).collect())
    }

    fn outcome(&self, text: &str, name: &str, server: &Value<'_>) -> Result<WrapOutcome, String> {
        let Value::Object(server) = server else { return Err("it is not an object".to_owned()) };
        refuse_repeated(server, name)?;
        let kind = server.get_string("type").map(|kind| kind.value.as_ref());
        if server.get("url").is_some() || kind.is_some_and(|kind| kind != "stdio") {
            return Err(
                "it is reached by HTTP, but the gate can be put only in front of servers that it starts".to_owned()
            );
        }
        let Some(command) = server.get("command") else { return Err("it has no `command`".to_owned()) };
        let Value::StringLit(program) = &command.value else { return Err("its `command` is not a string".to_owned()) };
        let args = match server.get("args").map(|args| &args.value) {
            None => None,
            Some(Value::Array(args)) => Some(args),
            Some(_) => return Err("its `args` is not an array".to_owned()),
        };
        let words = words(args)?;
        if words.iter().take(2).eq(["gate", "proxy"]) {
            return Ok(WrapOutcome::Before);
        }
        let own_name = ServerName::new(name).map_err(|error| format!("{error}; rename it in the client"))?;
        let config = self.config.replace(SERVER, name);
        let config = std::path::absolute(&config).map_err(|error| format!("`{config}`: {error}"))?;
        let words: Vec<_> = std::iter::once(program.value.to_string()).chain(words).collect();
        let configured = configured::find(&config, own_name, &words)?;
        let (name, reach) = match &configured {
            ConfiguredServer::Nothing => (name, None),
            ConfiguredServer::Server { name, reach } => (name.as_str(), reach.as_ref()),
        };
        let literal = |span: std::ops::Range<usize>| text.get(span).unwrap_or_default();
        let own = literal(program.range.start..program.range.end);
        let mut front: Vec<String> = ["gate", "proxy", "--config"].map(str::to_owned).into();
        front.extend([utf8(&config)?, "--server".to_owned(), name.to_owned()]);
        let variables = variables(server)?;
        if !matches!(reach, Some(Reach::Address)) {
            front.extend(variables.iter().flat_map(|variable| ["--pass-env".to_owned(), variable.clone()]));
        }
        if reach.is_none() {
            front.push("--".to_owned());
        }
        let front: Vec<_> = front.iter().map(|word| json(word)).collect();
        let front = if reach.is_none() { format!("{}, {own}", front.join(", ")) } else { front.join(", ") };
        let mut edits = vec![Edit { span: program.range.start..program.range.end, text: json(&utf8(&self.omen)?) }];
        match args {
            // A configured server has its own arguments, so the client's are dropped.
            Some(args) if reach.is_some() => {
                edits.push(Edit { span: args.range.start..args.range.end, text: format!("[{front}]") });
            }
            Some(args) => {
                let at = args.range.start + 1;
                let comma = if args.elements.is_empty() { "" } else { ", " };
                edits.push(Edit { span: at..at, text: format!("{front}{comma}") });
            }
            None => {
                let at = command.range().end;
                edits.push(Edit { span: at..at, text: format!(",{}\"args\": [{front}]", before(text, command)) });
            }
        }
        edits.sort_by_key(|edit| edit.span.start);
        Ok(WrapOutcome::Wrapped { edits, config, command: words, variables, configured })
    }
}

fn refuse_repeated(object: &Object<'_>, what: &str) -> Result<(), String> {
    jsonc::refuse_repeated(object).map_err(|why| format!("{why} in `{what}`"))
}

fn words(args: Option<&Array<'_>>) -> Result<Vec<String>, String> {
    let word = |arg: &Value<'_>| match arg {
        Value::StringLit(word) => Ok(word.value.to_string()),
        _ => Err("its `args` are not all strings".to_owned()),
    };
    args.into_iter().flat_map(|args| &args.elements).map(word).collect()
}

/// Returns the names of the environment variables that the client sets for the server.
fn variables(server: &Object<'_>) -> Result<Vec<String>, String> {
    match server.get("env").map(|env| &env.value) {
        None => Ok(Vec::new()),
        Some(Value::Object(env)) => Ok(env.properties.iter().map(|one| one.name.as_str().to_owned()).collect()),
        Some(_) => Err("its `env` is not an object".to_owned()),
    }
}

/// Returns the whitespace before a member, to be used before an inserted one: a line break with indentation, or a single space.
fn before<'t>(text: &'t str, member: &ObjectProp<'_>) -> &'t str {
    let before = text.get(..member.range.start).unwrap_or_default();
    let blanks = before.trim_end_matches([' ', '\t', '\r', '\n']).len();
    text.get(blanks..member.range.start).filter(|blanks| !blanks.is_empty()).unwrap_or(" ")
}

fn utf8(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| format!("the path `{}` is not UTF-8", path.display()))
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Server {
    /// Returns the edits that wrap the server.
    pub(super) fn edits(&self) -> &[Edit] {
        match &self.outcome {
            WrapOutcome::Wrapped { edits, .. } => edits,
            WrapOutcome::Before | WrapOutcome::Not { .. } => &[],
        }
    }

    pub(super) fn report(&self, is_dry: bool, bases: &[PathBuf], out: &mut impl Write) -> io::Result<()> {
        let name = clean(&self.name);
        match &self.outcome {
            WrapOutcome::Wrapped { config, command, variables, configured, .. } => {
                let would = if is_dry { "would be" } else { "is" };
                writeln!(out, "`{name}` {would} behind the gate of {}", clean(&config.to_string_lossy()))?;
                match configured {
                    ConfiguredServer::Nothing => {
                        Prepare { config, name: &self.name, command, variables, bases }.print(out)
                    }
                    ConfiguredServer::Server { name, reach: Some(_) } => {
                        let name = clean(name.as_str());
                        writeln!(
                            out,
                            "  which reaches it as its server `{name}` says; the client's own command is dropped"
                        )
                    }
                    ConfiguredServer::Server { reach: None, .. } => Ok(()),
                }
            }
            WrapOutcome::Before => writeln!(out, "`{name}` is wrapped already"),
            WrapOutcome::Not { why } => writeln!(out, "`{name}` is not wrapped: {}", clean(why)),
        }
    }
}

/// Input for the `omen gate init` command that is proposed to the user.
struct Prepare<'p> {
    config: &'p Path,
    name: &'p str,
    command: &'p [String],
    variables: &'p [String],
    /// Folders in which the client may start the server, most likely first.
    bases: &'p [PathBuf],
}

impl Prepare<'_> {
    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let config = self.config.to_string_lossy().into_owned();
        let mut words: Vec<String> =
            ["omen", "gate", "init", "--config", &config, "--server", self.name].map(str::to_owned).into();
        for variable in self.variables {
            words.extend(["--pass-env".to_owned(), variable.clone()]);
        }
        words.push("--".to_owned());
        words.extend(self.absolute());
        let words: Vec<_> = words.iter().map(|word| shell_word(word)).collect();
        writeln!(out, "  that file does not exist yet: {}", clean(&words.join(" ")))?;
        let unset: Vec<_> = self.variables.iter().filter(|name| std::env::var_os(name).is_none()).collect();
        if !unset.is_empty() {
            let names: Vec<_> = unset.iter().map(|name| format!("`{}`", clean(name))).collect();
            writeln!(out, "  set {} first, as the client does", names.join(", "))?;
        }
        Ok(())
    }

    /// Returns the command with absolute paths, because the gate starts the server in the configuration's folder.
    fn absolute(&self) -> Vec<String> {
        let absolute = |word: &String| {
            let path = Path::new(word);
            let found = self.bases.iter().find(|base| {
                let is_folder = || folders(self.command, base).contains(word);
                path.is_relative() && (word.contains('/') && base.join(path).exists() || is_folder())
            });
            // Resolves `.` and `..` as far as possible.
            let resolved = found.map(|base| base.join(path)).map(|path| path.canonicalize().unwrap_or(path));
            resolved.map_or_else(|| word.clone(), |path| path.to_string_lossy().into_owned())
        };
        self.command.iter().map(absolute).collect()
    }
}
