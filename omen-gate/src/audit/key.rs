//! The key: the one secret of the log.

use std::env::VarError;
use std::fmt;
use std::fs::Metadata;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::{Mac, store};
use crate::base::regular;

/// The key that seals the log: at least 32 bytes, written as hexadecimal digits.
///
/// Its bytes are not kept, only the state that they put HMAC-SHA-256 in, and that is wiped when the key goes. It is not
/// shown by `Debug`, and cannot be written out again.
pub struct Key {
    /// Keyed, and cloned for every message: half the work of a short one.
    keyed: Hmac<Sha256>,
}

impl Key {
    /// Takes the key's bytes.
    ///
    /// # Errors
    /// If there are fewer than 32, or all of them are the same.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.len() < MIN_BYTES {
            return Err(KeyError::Short(bytes.len()));
        }
        if bytes.iter().all(|byte| bytes.first() == Some(byte)) {
            return Err(KeyError::Uniform);
        }
        let keyed = Hmac::new_from_slice(bytes).map_err(|_| KeyError::Short(bytes.len()))?;
        Ok(Self { keyed })
    }

    /// Takes the key's hexadecimal digits. Blanks around them, such as a line break at the end, do not count.
    ///
    /// # Errors
    /// If the text is something else, or the key too short.
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        let digits = text.trim_ascii();
        let bytes = Zeroizing::new(base16ct::mixed::decode_vec(digits).map_err(|_| KeyError::NotHex)?);
        Self::from_bytes(&bytes)
    }

    /// Reads the key from a file with its digits. On Unix nobody but the owner may have rights on it: a key that others
    /// can read seals nothing (A3).
    ///
    /// # Errors
    /// If it cannot be read, is not a regular file, is accessible to others, or holds no key.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        let path = path.as_ref();
        let unreadable = |source| KeyError::Io { path: path.to_owned(), source };
        let file = regular::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => KeyError::NotFile(path.to_owned()),
            _ => unreadable(error),
        })?;
        check_rights(path, &file.metadata().map_err(unreadable)?)?;
        // With its full capacity at once, no copy of a part is left behind by growing.
        let mut text = Zeroizing::new(String::with_capacity(MAX_TEXT));
        let read = file.take(MAX_TEXT as u64).read_to_string(&mut text);
        match read {
            Ok(MAX_TEXT) => Err(KeyError::NotHex),
            Ok(_) => Self::from_hex(&text),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(KeyError::NotHex),
            Err(error) => Err(unreadable(error)),
        }
    }

    /// Reads the key from an environment variable with its digits. The environment itself keeps them, and programs
    /// that are started inherit it: a file is better.
    ///
    /// # Errors
    /// If the variable is not set, or holds no key.
    pub fn from_env(variable: &str) -> Result<Self, KeyError> {
        match std::env::var(variable) {
            Ok(text) => Self::from_hex(&Zeroizing::new(text)),
            Err(VarError::NotPresent) => Err(KeyError::NotSet(variable.to_owned())),
            Err(VarError::NotUnicode(_)) => Err(KeyError::NotHex),
        }
    }

    /// Makes a key of 32 random bytes of the operating system, and a new file for it that only the owner may read and
    /// write.
    ///
    /// # Errors
    /// If there is such a file already, it cannot be written, or there are no random bytes.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        let path = path.as_ref();
        let mut bytes = Zeroizing::new([0; MIN_BYTES]);
        getrandom::fill(bytes.as_mut()).map_err(|error| KeyError::Random(error.to_string()))?;
        let key = Self::from_bytes(bytes.as_ref())?;

        let mut text = Zeroizing::new([b'\n'; 2 * MIN_BYTES + 1]);
        let encoded = base16ct::lower::encode(bytes.as_ref(), text.as_mut()).map(<[u8]>::len);
        debug_assert_eq!(encoded, Ok(2 * MIN_BYTES), "one byte is left for the line break");
        // A log whose key did not survive a power failure could not be verified any more.
        let written = store::private().create_new(true).open(path).and_then(|mut file| {
            file.write_all(text.as_ref())?;
            file.sync_all()?;
            store::sync_folder(path)
        });
        written.map_err(|source| KeyError::Io { path: path.to_owned(), source })?;
        Ok(key)
    }

    /// Seals a message that is given in parts.
    pub(crate) fn seal(&self, parts: &[&[u8]]) -> Mac {
        Mac::new(self.over(parts).finalize().into_bytes().into())
    }

    /// Whether this is the seal of a message. It takes the same time wherever the difference is.
    pub(crate) fn fits(&self, parts: &[&[u8]], mac: &Mac) -> bool {
        self.over(parts).verify_slice(mac.as_bytes()).is_ok()
    }

    fn over(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut hmac = self.keyed.clone();
        parts.iter().for_each(|part| hmac.update(part));
        hmac
    }
}

/// An HMAC is two states of the hash and a buffer. They wipe themselves, by the feature `zeroize` of `sha2`.
impl ZeroizeOnDrop for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A key is missing, invalid or unsafe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("key file `{path}`: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is a directory, a pipe or a device.
    #[error("key file `{0}` is not a regular file")]
    NotFile(PathBuf),
    /// Others than the owner have rights on the file.
    #[error("key file `{path}` is accessible to other users (mode {mode:o})")]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The environment variable is not set.
    #[error("the environment variable `{0}` is not set")]
    NotSet(String),
    /// The text is something else than an even number of hexadecimal digits. It is not repeated here, for it may be
    /// most of a key.
    #[error("the key is not an even number of hexadecimal digits")]
    NotHex,
    /// There are too few bytes.
    #[error("the key has {0} bytes; at least {MIN_BYTES} are required")]
    Short(usize),
    /// One byte, repeated, is a placeholder and no key.
    #[error("the key is one byte repeated")]
    Uniform,
    /// The operating system gives no random bytes.
    #[error("no random bytes: {0}")]
    Random(String),
}

impl KeyError {
    /// How to fix it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                "a key is never overwritten: give another name, or move the old one to where its logs are".into()
            }
            Self::Io { path, source } if source.kind() == io::ErrorKind::NotFound => {
                format!("name the file that holds the key, or make a key: `omen audit new-key {}`", path.display())
            }
            Self::Io { .. } => "name a file that this user can read".into(),
            Self::NotFile(_) => {
                "name the file that holds the key's digits; write the output of a pipe to a file or a variable first"
                    .into()
            }
            Self::Open { path, .. } => {
                format!("run `chmod 600 {}`, and make a new key if somebody else may have read it", path.display())
            }
            Self::NotSet(variable) => format!("set `{variable}` to the key's digits, or name a key file"),
            Self::NotHex | Self::Short(_) | Self::Uniform => {
                "a key is 64 random hexadecimal digits or more, as `omen audit new-key FILE` makes it".into()
            }
            Self::Random(_) => "make the key on another machine and copy it here as a file".into(),
        }
    }
}

fn check_rights(path: &Path, metadata: &Metadata) -> Result<(), KeyError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = metadata.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Open { path: path.to_owned(), mode });
        }
    }
    Ok(())
}

/// As many as HMAC-SHA-256 gives.
const MIN_BYTES: usize = 32;

/// The most bytes of a key file that are read, far more than a key has.
const MAX_TEXT: usize = 4096;
