//! `omen gate wrap`: changes an MCP client's configuration to start its servers behind the gate.

mod backup;
mod client;
mod configured;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use omen::render::human::clean;
use omen_gate::regular_file;

use self::client::{SERVER, WrapOptions, WrapOutcome};
use crate::args::GateWrapArgs;
use crate::exit::{Exit, Failure, unreadable};
use crate::fix;
use crate::output::Output;
use crate::text_edit::{self, Edit};

/// Maximum size of a client's file in bytes.
const MAX_FILE: u64 = 16 << 20;

pub(crate) fn wrap(args: &GateWrapArgs, out: &mut Output) -> Result<Exit, Failure> {
    // Resolves a link, so that its target is rewritten and the link remains.
    let cannot_read = |error: io::Error| unreadable(format_args!("cannot read {}: {error}", args.file.display()));
    let file = fs::canonicalize(&args.file).map_err(cannot_read)?;
    let text = regular_file::read(&file, MAX_FILE).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
    let text = text.map_err(cannot_read)?;
    if args.undo {
        return undo(&file, &text, args, out);
    }
    let wrapping = WrapOptions { omen: program(args)?, config: args.config.clone(), only: &args.server };
    let found = wrapping.read(&text).map_err(|why| {
        unreadable(format_args!("cannot wrap the servers of {}: {}", args.file.display(), clean(&why)))
    })?;
    let wrapped = found.iter().filter(|server| matches!(server.outcome, WrapOutcome::Wrapped { .. })).count();
    if wrapped > 1 && !args.config.contains(SERVER) {
        return Err(Failure::Usage(format!(
            "{wrapped} servers cannot share one configuration, because the audit log of a gate has one writer; write \
             `--config 'gates/{SERVER}/gate.toml'`, or choose one server with `--server NAME`"
        )));
    }
    let edits: Vec<Edit> = found.iter().flat_map(|server| server.edits()).cloned().collect();
    let new = text_edit::apply(&text, &edits);
    if args.dry_run {
        if !edits.is_empty() {
            write!(out, "{}", fix::diff_header(Some(&file), Some(&file)))?;
        }
        text_edit::hunks(&text, &edits, out)?;
    } else if new != text {
        replace(&file, &text, &new).map_err(unreadable)?;
    }
    // Clients start servers in the project folder, where this command is usually run too.
    let bases: Vec<_> = std::env::current_dir().ok().into_iter().chain(file.parent().map(Path::to_owned)).collect();
    for server in &found {
        server.report(args.dry_run, &bases, out)?;
    }
    if wrapped > 1 {
        writeln!(
            out,
            "each of these {wrapped} servers has its own gate and log, whose order rules do not see the calls of \
             the others; `omen gate proxy --all-servers` puts servers behind one gate"
        )?;
    }
    if !args.dry_run && new != text {
        writeln!(out, "{} was rewritten; `omen gate wrap --undo {0}` restores it", args.file.display())?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}

/// Returns the path of the command that the client starts. A bare name would not do, since clients may have a different `PATH`.
fn program(args: &GateWrapArgs) -> Result<PathBuf, Failure> {
    match &args.omen {
        Some(omen) => Ok(omen.clone()),
        None => std::env::current_exe().map_err(|error| {
            Failure::Internal(format!("the path of this program is unknown: {error}; specify it with `--omen`"))
        }),
    }
}

/// Backs up the old text next to the file, then writes the new one.
fn replace(file: &Path, old: &str, new: &str) -> Result<(), String> {
    let backup = backup::keep(file, old, new)?;
    Output::write_file(file, new).map_err(|error| {
        // The file is unchanged, so the backup is useless.
        let _ = fs::remove_file(&backup);
        format!("cannot write {}: {error}", file.display())
    })
}

fn undo(file: &Path, text: &str, args: &GateWrapArgs, out: &mut Output) -> Result<Exit, Failure> {
    let backup = backup::find(file, text).map_err(unreadable)?;
    if !args.dry_run {
        fs::rename(&backup, file)
            .map_err(|error| unreadable(format_args!("cannot restore {}: {error}", file.display())))?;
    }
    let would = if args.dry_run { "would be" } else { "is" };
    writeln!(out, "{} {would} restored from {}", args.file.display(), backup.display())?;
    out.flush()?;
    Ok(Exit::Clean)
}
