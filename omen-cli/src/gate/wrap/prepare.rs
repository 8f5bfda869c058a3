//! The command that makes the configuration of a server, to be run as it is printed.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use omen::render::human::clean;

use crate::gate::{commands, folders};

/// What the command is made of.
pub(super) struct Prepare<'p> {
    pub(super) config: &'p Path,
    pub(super) name: &'p str,
    pub(super) command: &'p [String],
    pub(super) variables: &'p [String],
    /// The folders that the client may start the server in, the likeliest first.
    pub(super) bases: &'p [PathBuf],
}

impl Prepare<'_> {
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let config = self.config.to_string_lossy().into_owned();
        let mut words: Vec<String> =
            ["omen", "gate", "init", "--config", &config, "--server", self.name].map(str::to_owned).into();
        for variable in self.variables {
            words.extend(["--pass-env".to_owned(), variable.clone()]);
        }
        words.push("--".to_owned());
        words.extend(self.absolute());
        let words: Vec<_> = words.iter().map(|word| commands::quoted(word)).collect();
        writeln!(out, "  that file does not exist yet: {}", clean(&words.join(" ")))?;
        let unset: Vec<_> = self.variables.iter().filter(|name| std::env::var_os(name).is_none()).collect();
        if !unset.is_empty() {
            let names: Vec<_> = unset.iter().map(|name| format!("`{}`", clean(name))).collect();
            writeln!(out, "  set {} first, as the client does", names.join(", "))?;
        }
        Ok(())
    }

    /// The command with absolute paths: the server is started in the folder of its configuration from then on.
    fn absolute(&self) -> Vec<String> {
        let absolute = |word: &String| {
            let path = Path::new(word);
            let found = self.bases.iter().find(|base| {
                let is_folder = || folders::of(self.command, base).contains(word);
                path.is_relative() && (word.contains('/') && base.join(path).exists() || is_folder())
            });
            // Without `.` and `..`, as far as they can be resolved.
            let resolved = found.map(|base| base.join(path)).map(|path| path.canonicalize().unwrap_or(path));
            resolved.map_or_else(|| word.clone(), |path| path.to_string_lossy().into_owned())
        };
        self.command.iter().map(absolute).collect()
    }
}
