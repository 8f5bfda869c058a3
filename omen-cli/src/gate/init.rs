//! `omen gate init`: writes a configuration for a server that allows nothing but the tools given by `--allow`.

mod allow;
mod name;
mod propose;
mod text;

use std::fs;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use omen::render::human::clean;
use omen_gate::audit::Key;
use omen_gate::catalog::Catalog;
use omen_gate::{Config, ServerName};

use self::text::Setup;
use super::commands::folders;
use super::{catalog, config, remote};
use crate::args::GateInitArgs;
use crate::audit;
use crate::exit::{Exit, Failure, complain, unreadable};
use crate::output::Output;
use crate::quoting::shell_word;

/// Name of the key file, which is next to the configuration.
const KEY: &str = "audit.key";

pub(crate) fn init(args: &GateInitArgs, out: &mut Output) -> Result<Exit, Failure> {
    let path = &args.config;
    // Checked early so that no server is started in vain; the file system checks again when the file is created.
    if !args.force && !args.add && path.symlink_metadata().is_ok() {
        return Err(unreadable(format_args!(
            "{} already exists; add the server to it with `--add`, choose another file, or replace it with `--force`",
            path.display()
        )));
    }
    let mut endpoint = remote::endpoint(&args.remote)?;
    if let Some(file) = endpoint.as_mut().and_then(|endpoint| endpoint.ca_file.as_mut()) {
        // The path is relative to the working folder, while the configuration may be elsewhere.
        *file = std::path::absolute(&*file).unwrap_or_else(|_| file.clone());
    }
    let named = match &endpoint {
        Some(endpoint) => name::of_address(endpoint.url()),
        None => name::of_command(&args.command),
    };
    let Some(server) = args.server.clone().or(named) else {
        let what = if endpoint.is_some() { "address" } else { "command" };
        return Err(Failure::Usage(format!(
            "cannot derive a name for the server from its {what}; set it with `--server NAME`"
        )));
    };
    let existing =
        args.add.then(|| Existing::read(path, &server)).transpose().map_err(|why| unreadable(clean(&why)))?;
    // Created early, since the server runs in this folder.
    let folder = NewFolder::make(path.parent().unwrap_or(Path::new(""))).map_err(unreadable)?;
    let folders = folders(&args.command, path.parent().unwrap_or(Path::new("")));
    let setup = Setup {
        server: &server,
        command: &args.command,
        pass_env: &args.pass_env,
        endpoint: endpoint.as_ref(),
        plain_http: args.remote.allow_plain_http,
        allow: &args.allow,
        folders: &folders,
    };
    let catalog = tools(&setup, path)?;
    allow::check(&args.allow, &server, &catalog)?;
    let text = match &existing {
        Some(existing) => existing.with(&setup.addition(&catalog)),
        None => setup.configuration(&catalog),
    };
    // Nothing is written unless it is a valid configuration.
    Config::parse_as(&text, path).map_err(|errors| config::report(path, &errors))?;
    if let Some(existing) = existing {
        existing.replace(&text).map_err(|why| unreadable(clean(&why)))?;
        say(out, path, &setup, &catalog, None)?;
        return Ok(Exit::Clean);
    }
    let (key, is_new) = make_key(path)?;
    let written = write(path, &text, args.force);
    written.map_err(|error| unreadable(format_args!("cannot write {}: {error}", path.display())))?;
    folder.keep();
    say(out, path, &setup, &catalog, Some((&key, is_new)))?;
    Ok(Exit::Clean)
}

/// Lists the tools of the server.
fn tools(setup: &Setup<'_>, path: &Path) -> Result<Catalog, Failure> {
    let probe = Config::parse_as(&setup.probe(), path).map_err(|errors| {
        // The probed text is generated, so positions in it would mean nothing to the user.
        for error in &errors.0 {
            complain(format_args!("{}; {}", clean(&error.message), clean(&error.help)));
        }
        Failure::Unreadable
    })?;
    catalog::of_lists(catalog::discover(&probe)?)
}

/// Returns the key next to the configuration, and whether it is new. An existing key is kept, since a log may depend on it.
fn make_key(config: &Path) -> Result<(PathBuf, bool), Failure> {
    let path = config.with_file_name(KEY);
    if path.symlink_metadata().is_ok() {
        return audit::key_at(Some(&path), None).map(|_| (path, false));
    }
    Key::create(&path).map_err(audit::not_created)?;
    Ok((path, true))
}

/// Writes a new file, or with `replace` atomically replaces an existing one.
fn write(path: &Path, text: &str, replace: bool) -> io::Result<()> {
    if replace {
        return Output::write_file(path, text);
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

fn say(
    out: &mut Output,
    path: &Path,
    setup: &Setup<'_>,
    catalog: &Catalog,
    key: Option<(&Path, bool)>,
) -> io::Result<()> {
    let config = shell_word(&path.to_string_lossy());
    let config = clean(&config);
    let tools = catalog.iter().count();
    let s = if tools == 1 { "" } else { "s" };
    let allowed = match setup.allow {
        [] => "none of them allowed yet".to_owned(),
        names => {
            let names: Vec<_> = names.iter().map(|name| format!("`{}`", clean(name.as_str()))).collect();
            format!("allowed: {}", names.join(", "))
        }
    };
    let server = clean(setup.server.as_str());
    let what = if key.is_some() { "wrote" } else { "added to" };
    writeln!(out, "{what} {}: {tools} tool{s} of `{server}`, {allowed}", path.display())?;
    match key {
        Some((key, true)) => {
            writeln!(out, "wrote {}: keep it where neither the agent nor its tools can read it", key.display())?;
        }
        Some((key, false)) => writeln!(out, "kept {}", key.display())?,
        None => {}
    }
    let review = match setup.allow {
        [] => "remove the `#` in front of the entries of the tools that you allow",
        _ => "check that the permissions and rules of what is allowed are what you want",
    };
    let last = match key {
        Some(_) => format!(
            "have your client start `omen gate proxy --config {config}` in place of the server;\n     \
             `omen gate wrap` rewrites the configuration of a client"
        ),
        None => format!(
            "start the proxy again, with `--all-servers` in front of all servers of {config}, or with a\n     `--server` for each"
        ),
    };
    writeln!(
        out,
        "next:\n  1. read {}, and {review}\n  2. omen gate check --config {config}\n  3. {last}",
        path.display()
    )?;
    out.flush()
}

/// A newly created folder and its new parents. Unless kept, those that are still empty are removed on drop.
struct NewFolder(Vec<PathBuf>);

impl NewFolder {
    /// Creates the folder and its parents if they do not exist.
    fn make(folder: &Path) -> Result<Self, String> {
        let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let made = Self(missing.map(Path::to_owned).collect());
        match fs::create_dir_all(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }) {
            Ok(()) => Ok(made),
            Err(error) => Err(format!("cannot create the folder {}: {error}", folder.display())),
        }
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        for folder in &self.0 {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// An existing configuration, as it was read.
struct Existing {
    path: PathBuf,
    text: String,
}

impl Existing {
    /// Reads a configuration that must not contain the server yet.
    fn read(path: &Path, server: &ServerName) -> Result<Self, String> {
        let shown = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| format!("cannot add to {shown}: {error}; omit `--add` to write a new configuration"))?;
        let config = Config::parse_as(&text, path).map_err(|_| {
            let check = format!("omen gate check --config {}", shell_word(&path.to_string_lossy()));
            format!("cannot add to {shown}: it has errors, which `{check}` lists; fix them first")
        })?;
        if config.servers.contains_key(server) {
            return Err(format!(
                "{shown} already has a server `{server}`; give the new one another name with `--server NAME`"
            ));
        }
        Ok(Self { path: path.to_owned(), text })
    }

    /// Returns the text with an addition at the end.
    fn with(&self, addition: &str) -> String {
        let end = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { "\n" };
        format!("{}{end}{addition}", self.text)
    }

    /// Replaces the text, unless the file was changed since it was read.
    fn replace(self, text: &str) -> Result<(), String> {
        let shown = self.path.display();
        if !fs::read(&self.path).is_ok_and(|now| now == self.text.as_bytes()) {
            return Err(format!("{shown} was changed in the meantime, and was not modified; run the command again"));
        }
        Output::write_file(&self.path, text).map_err(|error| format!("cannot write {shown}: {error}"))
    }
}
