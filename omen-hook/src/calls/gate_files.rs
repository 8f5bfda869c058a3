//! Files of the gate itself: writing to them would let an agent change the policy that judges it, or forge the log.

use std::path::{Path, PathBuf};

use omen_gate::Config;
use omen_gate::config::KeySource;

use super::paths::{is_named, is_plain_end, is_word_end, resolved, spelled};
use crate::episodes::folder_of;

/// Files of the gate: its configuration and the files named there, the whole audit log, and the secrets.
#[derive(Clone, Debug, Default)]
pub(crate) struct GateFiles {
    files: Vec<PathBuf>,
    log: Option<PathBuf>,
    /// Folder of the episodes.
    episodes: Option<PathBuf>,
    /// Files that are not read, either: that of the key, and the token of hooks over HTTP.
    secrets: Vec<PathBuf>,
}

impl GateFiles {
    /// Collects the files that a configuration names.
    pub(crate) fn from_config(config: &Config) -> Self {
        let mut files = Self::default();
        files.add(&config.confirm_socket());
        let socket = config.hook_socket();
        ["sock", "url"].iter().for_each(|name| files.add(&socket.with_extension(name)));
        files.secrets.push(absolute(&socket.with_extension("token")));
        if let Some(audit) = &config.audit {
            audit.require_anchor.iter().for_each(|anchor| files.add(anchor));
            files.log = Some(absolute(&audit.log));
            files.episodes = Some(absolute(&folder_of(audit)));
            if let KeySource::File(key) = &audit.key {
                files.secrets.push(absolute(key));
            }
        }
        files
    }

    pub(crate) fn add(&mut self, file: &Path) {
        self.files.push(absolute(file));
    }

    /// Returns the gate's file to which a path leads, directly or through links.
    pub(crate) fn at(&self, path: &Path) -> Option<&Path> {
        let path = resolved(path);
        let is_log =
            |log: &&PathBuf| is_same(&path, log) || (are_siblings(&path, log) && is_of_log(&name_of(&path), log));
        let mut files = self.files.iter().chain(&self.secrets);
        let found = files.find(|file| is_same(&path, file)).or_else(|| self.log.as_ref().filter(is_log));
        let is_within = |folder: &&PathBuf| path.starts_with(resolved(folder));
        found.or_else(|| self.episodes.as_ref().filter(is_within)).map(PathBuf::as_path)
    }

    pub(crate) fn secret_at(&self, path: &Path) -> Option<&Path> {
        self.secrets.iter().find(|secret| is_same(&resolved(path), secret)).map(PathBuf::as_path)
    }

    /// Returns the gate's file that a text names, in any folder, since the text may be a command that changes the folder first.
    pub(crate) fn named_in(&self, text: &str) -> Option<&Path> {
        let text = spelled(text);
        let mut files = self.files.iter().chain(&self.secrets).chain(&self.episodes);
        let is_log = |log: &&PathBuf| {
            let stem = format!("{}.", stem_of(log));
            // Matches names such as `audit.jsonl.head`, `audit.000002.jsonl` and `audit.*`, but not `audit.rs`.
            is_named(&text, &name_of(log), is_word_end)
                || is_named(&text, &stem, |rest| rest.starts_with(|c: char| c.is_ascii_digit() || "*?[{".contains(c)))
        };
        let found = files.find(|file| is_named(&text, &name_of(file), is_plain_end));
        found.or_else(|| self.log.as_ref().filter(is_log)).map(PathBuf::as_path)
    }

    pub(crate) fn secret_named_in(&self, text: &str) -> Option<&Path> {
        let text = spelled(text);
        self.secrets.iter().find(|secret| is_named(&text, &name_of(secret), is_plain_end)).map(PathBuf::as_path)
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns whether a resolved path is that of a file, or of the link at the file's path.
fn is_same(path: &Path, file: &Path) -> bool {
    path == resolved(file) || (are_siblings(path, file) && name_of(path) == name_of(file))
}

fn are_siblings(path: &Path, file: &Path) -> bool {
    path.parent().is_some_and(|folder| file.parent().map(resolved).as_deref() == Some(folder))
}

/// Returns a file's name for comparison, even on file systems that ignore case.
fn name_of(file: &Path) -> String {
    spelled(&file.file_name().unwrap_or_default().to_string_lossy())
}

fn stem_of(file: &Path) -> String {
    spelled(&file.file_stem().unwrap_or_default().to_string_lossy())
}

/// Returns whether a name in a log's folder is one of the log's files: rotated files and head records share its stem.
fn is_of_log(name: &str, log: &Path) -> bool {
    name.strip_prefix(&stem_of(log)).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
