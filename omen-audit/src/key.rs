//! Key of a log, and the MACs that it makes.

mod error;
mod mac;
pub(crate) mod secret;

use std::env::VarError;
use std::fmt;
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use self::error::BYTES;
pub use self::error::KeyError;
pub use self::mac::Mac;

/// Key that seals the log: at least 32 bytes, written in hexadecimal.
///
/// Only the keyed state of HMAC-SHA-256 is kept, not the bytes, and it is wiped on drop. `Debug` does not show the key,
/// and it cannot be exported.
pub struct Key {
    /// Keyed state, cloned for every message, which halves the work for short ones.
    keyed: Hmac<Sha256>,
}

impl Key {
    /// Creates a key from its bytes.
    ///
    /// # Errors
    /// If there are fewer than 32 bytes, or all of them are the same.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.len() < BYTES {
            return Err(KeyError::Short(bytes.len()));
        }
        if bytes.iter().all(|byte| bytes.first() == Some(byte)) {
            return Err(KeyError::Uniform);
        }
        let keyed = Hmac::new_from_slice(bytes).map_err(|_| KeyError::Short(bytes.len()))?;
        Ok(Self { keyed })
    }

    /// Parses a key in hexadecimal. Surrounding white space, such as a final line break, is ignored.
    ///
    /// # Errors
    /// If the text is not hexadecimal, or the key is too short.
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        let digits = text.trim_ascii();
        let bytes = Zeroizing::new(base16ct::mixed::decode_vec(digits).map_err(|_| KeyError::NotHex)?);
        Self::from_bytes(&bytes)
    }

    /// Reads a key in hexadecimal from a file. On Unix, only the owner may have permissions on the file: a key that
    /// others can read protects nothing (A3).
    ///
    /// # Errors
    /// If the file cannot be read, is not a regular file, is accessible to others, or contains no key.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        Self::from_hex(&secret::read(path.as_ref())?)
    }

    /// Reads a key in hexadecimal from an environment variable. A file is safer: the environment retains the digits,
    /// and child processes inherit them.
    ///
    /// # Errors
    /// If the variable is not set or contains no key.
    pub fn from_env(variable: &str) -> Result<Self, KeyError> {
        match std::env::var(variable) {
            Ok(text) => Self::from_hex(&Zeroizing::new(text)),
            Err(VarError::NotPresent) => Err(KeyError::NotSet(variable.to_owned())),
            Err(VarError::NotUnicode(_)) => Err(KeyError::NotHex),
        }
    }

    /// Creates a key of 32 random bytes from the operating system, in a new file that only the owner may read and write.
    ///
    /// # Errors
    /// If the file already exists or cannot be written, or no random bytes are available.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        Self::from_bytes(secret::create(path.as_ref())?.as_ref())
    }

    pub(crate) fn seal(&self, parts: &[&[u8]]) -> Mac {
        Mac::new(self.over(parts).finalize().into_bytes().into())
    }

    /// Derives a key for a purpose that must be unique to the caller.
    #[must_use]
    pub fn derived(&self, purpose: &str) -> [u8; 32] {
        *self.seal(&[purpose.as_bytes()]).as_bytes()
    }

    /// Returns whether a MAC is the seal of a message, in constant time.
    pub(crate) fn fits(&self, parts: &[&[u8]], mac: &Mac) -> bool {
        self.over(parts).verify_slice(mac.as_bytes()).is_ok()
    }

    fn over(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut hmac = self.keyed.clone();
        parts.iter().for_each(|part| hmac.update(part));
        hmac
    }
}

/// An HMAC consists of two hash states and a buffer, which wipe themselves because of the feature `zeroize` of `sha2`.
impl ZeroizeOnDrop for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}
