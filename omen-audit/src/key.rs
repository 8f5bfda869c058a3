//! The key: the one secret of the log.

use std::env::VarError;
use std::fmt;
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::key_error::{BYTES, KeyError};
use super::{Mac, secret};

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
        if bytes.len() < BYTES {
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
        Self::from_hex(&secret::read(path.as_ref())?)
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
        Self::from_bytes(secret::create(path.as_ref())?.as_ref())
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
