//! Key errors.

use std::io;
use std::path::PathBuf;

/// Error for a missing, invalid or unsafe key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("key file `{path}`: {source}")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the failure.
        source: io::Error,
    },
    /// The file is a directory, a pipe or a device.
    #[error("key file `{0}` is not a regular file")]
    NotFile(PathBuf),
    /// Users other than the owner have permissions on the file.
    #[error("key file `{path}` is accessible to other users (mode {mode:o})")]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// Permission bits of the file.
        mode: u32,
    },
    /// The environment variable is not set.
    #[error("the environment variable `{0}` is not set")]
    NotSet(String),
    /// The text is not an even number of hexadecimal digits. The message does not quote the text, which may be most of a key.
    #[error("the key is not an even number of hexadecimal digits")]
    NotHex,
    /// The key has too few bytes.
    #[error("the key has {0} bytes; at least {BYTES} are required")]
    Short(usize),
    /// The key is a single repeated byte, i.e. a placeholder.
    #[error("the key is one byte repeated")]
    Uniform,
    /// The text is not the 64 digits of an Ed25519 key. The message does not quote it.
    #[error("the key is not 64 hexadecimal digits")]
    NotPair,
    /// The digits are not an Ed25519 public key.
    #[error("the digits are not a public key")]
    NotPublic,
    /// The operating system provides no random bytes.
    #[error("no random bytes: {0}")]
    Random(String),
}

impl KeyError {
    /// Returns the help for the error.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                "keys are never overwritten: choose another name, or move the old key to where its logs are".into()
            }
            Self::Io { path, source } if source.kind() == io::ErrorKind::NotFound => {
                format!("specify the file that holds the key, or create a key: `omen audit new-key {}`", path.display())
            }
            Self::Io { .. } => "specify a file that this user can read".into(),
            Self::NotFile(_) => {
                "specify a file that holds the key's digits; write the output of a pipe to a file or a variable first"
                    .into()
            }
            Self::Open { path, .. } => {
                format!("run `chmod 600 {}`, and create a new key if anyone else may have read it", path.display())
            }
            Self::NotSet(variable) => format!("set `{variable}` to the key's digits, or specify a key file"),
            Self::NotHex | Self::Short(_) | Self::Uniform => {
                "a key has at least 64 random hexadecimal digits; `omen audit new-key FILE` creates one".into()
            }
            Self::NotPair => {
                "specify a file created by `omen audit new-signing-key`: FILE to sign, FILE.pub to verify".into()
            }
            Self::NotPublic => "specify the `.pub` file that `omen audit new-signing-key` created".into(),
            Self::Random(_) => "create the key on another machine and copy it here as a file".into(),
        }
    }
}

/// Minimum key length in bytes.
pub(super) const BYTES: usize = 32;
