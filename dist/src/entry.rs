//! Files in packages.

/// A file in a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path, with `/` between names.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it is a program.
    pub is_executable: bool,
}

impl Entry {
    /// A file that is not a program.
    pub fn text(path: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: text.into(), is_executable: false }
    }

    /// A program.
    pub fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), is_executable: true }
    }

    /// The same file in a folder.
    pub(crate) fn below(&self, folder: &str) -> Self {
        Self { path: format!("{folder}/{}", self.path), ..self.clone() }
    }

    /// Its permissions, as Unix numbers them.
    pub(crate) fn mode(&self) -> u32 {
        if self.is_executable { 0o755 } else { 0o644 }
    }
}
