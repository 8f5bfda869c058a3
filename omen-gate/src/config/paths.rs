//! Paths of a configuration are relative to the folder that it lies in, wherever the gate is started.

use std::path::{self, Path, PathBuf};

use super::{Command, Config, KeySource};

/// Has all paths of a configuration start from the folder of its file.
pub(super) fn resolve(config: &mut Config, file: &Path) {
    // Absolute, so that nothing changes if this process goes to another folder. Without a working directory, paths stay
    // as they are, and do not lead anywhere else.
    let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    for command in config.servers.values_mut().filter_map(|server| server.command.as_mut()) {
        command.dir = Some(folder.clone());
    }
    for file in config.servers.values_mut().filter_map(|server| server.endpoint.as_mut()?.ca_file.as_mut()) {
        *file = folder.join(&*file);
    }
    if let Some(audit) = &mut config.audit {
        audit.log = folder.join(&audit.log);
        if let KeySource::File(file) = &mut audit.key {
            *file = folder.join(&*file);
        }
        if let Some(anchor) = &mut audit.require_anchor {
            *anchor = folder.join(&*anchor);
        }
    }
    if let Some(socket) = &mut config.confirm_socket {
        *socket = folder.join(&*socket);
    }
    config.allow.start_from(&folder);
    config.folder = Some(folder);
}

/// The file that a text would name for a server.
fn of(command: &Command, text: &str) -> PathBuf {
    command.dir.as_deref().unwrap_or(Path::new("")).join(text)
}

impl Command {
    /// The program as it is started: a path is relative to the folder that it runs in; a bare name is looked for in `PATH`.
    #[must_use]
    pub fn to_path(&self) -> PathBuf {
        if self.is_bare() { PathBuf::from(&self.program) } else { of(self, &self.program) }
    }

    /// Whether the program is named without a folder.
    pub(super) fn is_bare(&self) -> bool {
        !self.program.contains(path::is_separator)
    }
}
