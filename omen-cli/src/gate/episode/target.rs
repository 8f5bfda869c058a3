//! Check of the file named by `--episode-log`.

use std::fs::{File, Metadata};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use omen_gate::Config;
use omen_gate::audit::store::log_of;
use omen_gate::config::KeySource;
use omen_types::PacketFacts;
use omen_types::limits::MAX_LINE_BYTES;
use serde::de::IgnoredAny;

use crate::args::ProxyArgs;

/// Checks that a path is free or holds an episode log. Opening a log cuts off whatever follows its last complete line, which
/// would destroy any other file.
pub(super) fn check(path: &Path, args: &ProxyArgs, config: &Config) -> Result<(), String> {
    let failed = |error| cannot_read(path, &error);
    if let Some(what) = taken(path, args, config).map_err(failed)? {
        return Err(unfit(path, &format!("is {what}")));
    }
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        // Refused later, when it is opened for writing; opening a pipe here would block.
        Ok(there) if !there.is_file() => return Ok(()),
        there => there.map_err(failed)?,
    };
    is_log(&File::open(path).map_err(failed)?, path)
}

/// Repeats the check on the opened file, which may not be the one that was checked.
pub(super) fn check_opened(file: &File, path: &Path, args: &ProxyArgs, config: &Config) -> Result<(), String> {
    let failed = |error| cannot_read(path, &error);
    let there = file.metadata().map_err(failed)?;
    let place = FileIdentity { node: node_of(&there), ..FileIdentity::resolve(path).map_err(failed)? };
    if let Some(what) = named(&place, args, config).map_err(failed)? {
        return Err(unfit(path, &format!("is {what}")));
    }
    // Anything but a regular file is refused later, when opened as a log.
    if there.is_file() { is_log(file, path) } else { Ok(()) }
}

/// Checks that a file is empty or begins with a packet.
fn is_log(file: &File, path: &Path) -> Result<(), String> {
    let mut first = Vec::new();
    let read = BufReader::new(file).take(MOST).read_until(b'\n', &mut first);
    read.map_err(|error| cannot_read(path, &error))?;
    let line = first.strip_suffix(b"\n").unwrap_or(&first);
    let is_packet = std::str::from_utf8(line).is_ok_and(|line| PacketFacts::parse(line).is_ok());
    // The first packet may have been written only in part.
    let is_partial = line.len() == first.len()
        && (BEGIN.starts_with(line)
            || line.starts_with(BEGIN)
                && serde_json::from_slice::<IgnoredAny>(line).is_err_and(|error| error.is_eof()));
    let not_log = "does not begin with a packet, so it is not a log of episodes";
    if is_packet || is_partial { Ok(()) } else { Err(unfit(path, not_log)) }
}

fn unfit(path: &Path, why: &str) -> String {
    format!("`{}` {why}; choose another file with --episode-log", path.display())
}

fn cannot_read(path: &Path, error: &io::Error) -> String {
    format!("cannot read `{}`: {error}", path.display())
}

/// Maximum length of a packet with its line feed.
const MOST: u64 = MAX_LINE_BYTES as u64 + 1;

/// First bytes of every packet.
const BEGIN: &[u8] = b"{\"header\":{";

/// Returns the other purpose of a file that the configuration or the command line already uses.
fn taken(path: &Path, args: &ProxyArgs, config: &Config) -> io::Result<Option<&'static str>> {
    named(&FileIdentity::resolve(path)?, args, config)
}

fn named(file: &FileIdentity, args: &ProxyArgs, config: &Config) -> io::Result<Option<&'static str>> {
    let is = |other: &Path| -> io::Result<bool> { Ok(FileIdentity::resolve(other)?.is_same(file)) };
    if is(&args.config)? {
        return Ok(Some("the configuration"));
    }
    if let Some(audit) = &config.audit {
        if is(&audit.log)? || file.is_beside(&FileIdentity::resolve(&audit.log)?) {
            return Ok(Some("a file of the audit log"));
        }
        if let KeySource::File(key) = &audit.key
            && is(key)?
        {
            return Ok(Some("the key of the audit log"));
        }
        if let Some(anchor) = &audit.require_anchor
            && is(anchor)?
        {
            return Ok(Some("the anchor of the audit log"));
        }
    }
    if is(&config.confirm_socket())? {
        return Ok(Some("the socket for confirmations"));
    }
    for server in config.servers.values() {
        let program = server.command.as_ref().map(|command| Path::new(&command.program));
        let certificates = server.endpoint.as_ref().and_then(|endpoint| endpoint.ca_file.as_deref());
        for other in program.into_iter().chain(certificates) {
            if is(other)? {
                return Ok(Some("a file of a server in the configuration"));
            }
        }
    }
    Ok(None)
}

/// A place in the file system, regardless of the name used for it.
#[derive(Debug)]
struct FileIdentity {
    path: PathBuf,
    /// Device and inode of the file, which may have several names.
    node: Option<(u64, u64)>,
}

impl FileIdentity {
    fn resolve(path: &Path) -> io::Result<Self> {
        match path.canonicalize() {
            Ok(whole) => Ok(Self { node: node(&whole)?, path: whole }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                // A missing folder contains nothing that the file could collide with.
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
                Ok(Self { path: folder.join(path.file_name().unwrap_or_default()), node: None })
            }
            Err(error) => Err(error),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.path == other.path || self.node.is_some() && self.node == other.node
    }

    /// Returns whether it is a later file of a log, a head record, or a cut-off part.
    fn is_beside(&self, log: &Self) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let end = [".head", ".torn-"].iter().filter_map(|part| name.find(part)).min().unwrap_or(name.len());
        log_of(self.path.with_file_name(name.get(..end).unwrap_or_default())) == log.path
    }
}

#[cfg(unix)]
fn node(path: &Path) -> io::Result<Option<(u64, u64)>> {
    path.metadata().map(|file| node_of(&file))
}

#[cfg(unix)]
fn node_of(file: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn node(_: &Path) -> io::Result<Option<(u64, u64)>> {
    Ok(None)
}

#[cfg(not(unix))]
fn node_of(_: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
#[cfg(unix)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::fs::{self, OpenOptions};

    use clap::{Args as _, Command, FromArgMatches as _};
    use omen_gate::Config;

    use super::{check, check_opened};
    use crate::args::ProxyArgs;

    /// Another file may appear at the path between the check and the opening, so the opened file is what counts.
    #[test]
    fn what_was_opened_is_checked_and_not_only_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let text = "[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\n";
        for (name, content) in
            [("gate.toml", text), ("audit.jsonl", ""), ("audit.key", "key"), ("notes", "not a packet\n")]
        {
            fs::write(at(name), content).unwrap();
        }
        let config = Config::load(&at("gate.toml")).unwrap();
        let name = "proxy";
        let command = ProxyArgs::augment_args(Command::new(name).no_binary_name(true));
        let matches = command.get_matches_from(["--config", at("gate.toml").to_str().unwrap(), "--", "server"]);
        let args = ProxyArgs::from_arg_matches(&matches).unwrap();
        let path = at("episodes.jsonl");
        assert!(check(&path, &args, &config).is_ok());
        for name in ["gate.toml", "audit.jsonl", "audit.key", "notes"] {
            // As if the file had been moved to the path for a moment, just when it was opened.
            let opened = OpenOptions::new().read(true).append(true).open(at(name)).unwrap();
            let refused = check_opened(&opened, &path, &args, &config).unwrap_err();
            let why = if name == "notes" { "does not begin with a packet" } else { "episodes.jsonl` is " };
            assert!(refused.contains(why), "{refused}");
        }
        let fresh = OpenOptions::new().read(true).append(true).create(true).open(&path).unwrap();
        assert!(check_opened(&fresh, &path, &args, &config).is_ok());
    }
}
