//! Settings files of agents: where they are, and whether they can be edited safely.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use omen_gate::regular_file;
use omen_hook::{Dialect, SettingsPlace};
use serde_json::Value;

use super::{json, toml};

/// Format of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingsFormat {
    Json,
    Toml,
    /// Source of a plug-in.
    Script,
}

impl SettingsFormat {
    pub(crate) fn from_path(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::Toml,
            Some("js") => Self::Script,
            _ => Self::Json,
        }
    }

    pub(crate) fn value(self, text: &str) -> Result<Value, String> {
        match self {
            Self::Json => json::value(text),
            Self::Toml => toml::value(text),
            Self::Script => Ok(Value::Null),
        }
    }
}

/// Settings file that the hook goes into.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    pub(crate) place: SettingsPlace,
    pub(crate) format: SettingsFormat,
    /// Folder that the file may not lead out of.
    base: PathBuf,
}

impl SettingsFile {
    /// Settings of a scope.
    pub(crate) fn find(dialect: &Dialect, scope: &str, project: &Path) -> Result<Self, String> {
        let title = &dialect.title;
        let scopes = || dialect.install.places.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let place = dialect.install.places.get(scope).ok_or_else(|| {
            format!("{title} has no {scope} settings that its user cannot undo; expected one of {}", scopes())
        })?;
        let unknown = || format!("the {scope} settings of {title} are unknown on this system; is `HOME` set?");
        let path = place.path(project, variable).ok_or_else(unknown)?;
        let home = variable("HOME").map(PathBuf::from).filter(|home| path.starts_with(home));
        let base = match scope {
            "project" => project.to_owned(),
            _ => home.unwrap_or_else(|| path.parent().unwrap_or(Path::new("/")).to_owned()),
        };
        Ok(Self { format: SettingsFormat::from_path(&path), path, place: place.clone(), base })
    }

    /// File beside it that says how to undo the installation.
    pub(crate) fn record(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".omen-undo");
        name.into()
    }

    /// Text of the file, if it exists.
    pub(crate) fn read(&self) -> Result<Option<String>, String> {
        self.check_links()?;
        read(&self.path)
    }

    /// Refuses links that lead elsewhere: a repository could have another file edited by them.
    fn check_links(&self) -> Result<(), String> {
        let exists = self.path.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap_or(&self.path);
        let real = exists.canonicalize().map_err(|error| format!("`{}`: {error}", exists.display()))?;
        let Ok(base) = self.base.canonicalize() else { return Ok(()) };
        if real.starts_with(&base) || base.starts_with(&real) {
            return Ok(());
        }
        Err(format!("a link leads to {}, which is not below {}", real.display(), base.display()))
    }
}

/// Text of a regular file, if it exists.
pub(crate) fn read(path: &Path) -> Result<Option<String>, String> {
    match regular_file::read(path, MAX_FILE) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Creates the missing folders of a file, and returns them, the outermost first.
pub(super) fn make_folders(file: &Path) -> io::Result<Vec<PathBuf>> {
    let missing: Vec<_> =
        file.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
    let mut made = Vec::new();
    for folder in missing.into_iter().rev() {
        fs::create_dir(folder)?;
        made.push(folder.to_owned());
    }
    Ok(made)
}

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Longest settings file in bytes.
const MAX_FILE: u64 = 16 << 20;
