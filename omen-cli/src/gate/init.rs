//! `omen gate init`: writes a configuration for a server, in which nothing is allowed but what was named.

mod allow;
mod existing;
mod name;
mod new_folder;
mod propose;
mod text;

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use omen::render::human::clean;
use omen_gate::Config;
use omen_gate::audit::Key;
use omen_gate::catalog::Catalog;

use self::existing::{Existing, put};
use self::new_folder::NewFolder;
use self::text::Setup;
use super::{catalog, commands, config, folders, remote};
use crate::args::GateInitArgs;
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

/// The name of the key's file, beside the configuration.
const KEY: &str = "audit.key";

pub(crate) fn init(args: &GateInitArgs, out: &mut Output) -> Result<Exit, Failure> {
    let path = &args.config;
    // Asked first, so that no server is started in vain; what counts is asked again by the file system.
    if !args.force && !args.add && path.symlink_metadata().is_ok() {
        complain(format_args!(
            "{} exists already; add the server to it with `--add`, name another file, or replace it with `--force`",
            path.display()
        ));
        return Ok(Exit::Unreadable);
    }
    let mut endpoint = remote::endpoint(&args.remote)?;
    if let Some(file) = endpoint.as_mut().and_then(|endpoint| endpoint.ca_file.as_mut()) {
        // It is given from here, and the configuration may lie elsewhere.
        *file = std::path::absolute(&*file).unwrap_or_else(|_| file.clone());
    }
    let named = match &endpoint {
        Some(endpoint) => name::of_address(endpoint.url()),
        None => name::of(&args.command),
    };
    let Some(server) = args.server.clone().or(named) else {
        let what = if endpoint.is_some() { "address" } else { "command" };
        return Err(Failure::Usage(format!("no name for the server in its {what}; name it with `--server NAME`")));
    };
    let existing = match args.add.then(|| Existing::read(path, &server)).transpose() {
        Ok(existing) => existing,
        Err(why) => {
            complain(clean(&why));
            return Ok(Exit::Unreadable);
        }
    };
    // The server runs in it.
    let folder = match NewFolder::make(path.parent().unwrap_or(Path::new(""))) {
        Ok(folder) => folder,
        Err(why) => {
            complain(why);
            return Ok(Exit::Unreadable);
        }
    };
    let folders = folders::of(&args.command, path.parent().unwrap_or(Path::new("")));
    let setup = Setup {
        server: &server,
        command: &args.command,
        pass_env: &args.pass_env,
        endpoint: endpoint.as_ref(),
        plain_http: args.remote.allow_plain_http,
        allow: &args.allow,
        folders: &folders,
    };
    let Some(catalog) = tools(&setup, path)? else { return Ok(Exit::Unreadable) };
    allow::check(&args.allow, &server, &catalog)?;
    let text = match &existing {
        Some(existing) => existing.with(&setup.addition(&catalog)),
        None => setup.configuration(&catalog),
    };
    // What is written is a configuration, or nothing is.
    if let Err(errors) = Config::parse_as(&text, path) {
        config::report(path, &errors);
        return Ok(Exit::Unreadable);
    }
    if let Some(existing) = existing {
        if let Err(why) = existing.replace(&text) {
            complain(clean(&why));
            return Ok(Exit::Unreadable);
        }
        say(out, path, &setup, &catalog, None)?;
        return Ok(Exit::Clean);
    }
    let (key, is_new) = match make_key(path) {
        Ok(made) => made,
        Err(why) => {
            complain(why);
            return Ok(Exit::Unreadable);
        }
    };
    if let Err(error) = write(path, &text, args.force) {
        complain(format_args!("cannot write {}: {error}", path.display()));
        return Ok(Exit::Unreadable);
    }
    folder.keep();
    say(out, path, &setup, &catalog, Some((&key, is_new)))?;
    Ok(Exit::Clean)
}

/// The tools of the server, or nothing if it failed. Failures are reported here.
fn tools(setup: &Setup<'_>, path: &Path) -> Result<Option<Catalog>, Failure> {
    let probe = match Config::parse_as(&setup.probe(), path) {
        Ok(probe) => probe,
        Err(errors) => {
            // The text is not the user's, so the places in it say nothing.
            errors
                .0
                .iter()
                .for_each(|error| complain(format_args!("{}; {}", clean(&error.message), clean(&error.help))));
            return Ok(None);
        }
    };
    let Some(lists) = catalog::discover(&probe)? else { return Ok(None) };
    let mut catalog = Catalog::default();
    for (server, tools) in lists {
        if let Err(error) = catalog.list(server, tools) {
            complain(clean(&error.to_string()));
            return Ok(None);
        }
    }
    Ok(Some(catalog))
}

/// The key beside the configuration, and whether it is new. One that is there is kept: it may have a log.
fn make_key(config: &Path) -> Result<(PathBuf, bool), String> {
    let path = config.with_file_name(KEY);
    if path.symlink_metadata().is_ok() {
        let cannot = |error: omen_gate::audit::KeyError| format!("cannot use the key: {error}; {}", error.help());
        return Key::from_file(&path).map(|_| (path, false)).map_err(cannot);
    }
    match Key::create(&path) {
        Ok(_) => Ok((path, true)),
        Err(error) => Err(format!("cannot create the key: {error}; {}", error.help())),
    }
}

/// Writes the whole file or nothing, and replaces a file only if that was asked for.
fn write(path: &Path, text: &str, replace: bool) -> io::Result<()> {
    if replace {
        return put(path, text);
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
    let config = commands::quoted(&path.to_string_lossy());
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
        _ => "see that the permissions and rules of what is allowed are what you mean",
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
