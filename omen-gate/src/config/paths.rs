//! Resolution of paths relative to the configuration's folder, independent of the working directory.

use std::path::{self, Path, PathBuf};

use super::{Command, Config, KeySource};

/// Makes all paths of a configuration relative to the folder of its file.
pub(super) fn resolve(config: &mut Config, file: &Path) {
    // Made absolute, so that a change of the working directory has no effect. If there is no working directory, the
    // path stays as it is.
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
    let _ = config.order_folder.set(folder.clone());
    config.folder = Some(folder);
}

/// Resolves a text as a path of a server.
fn resolve_path(command: &Command, text: &str) -> PathBuf {
    command.dir.as_deref().unwrap_or(Path::new("")).join(text)
}

impl Command {
    /// Program as it is started: a path is relative to its working directory; a bare name is searched for in `PATH`.
    #[must_use]
    pub fn to_path(&self) -> PathBuf {
        if self.is_bare() { PathBuf::from(&self.program) } else { resolve_path(self, &self.program) }
    }

    /// Whether the program is named without a folder.
    pub(super) fn is_bare(&self) -> bool {
        !self.program.contains(path::is_separator)
    }
}
