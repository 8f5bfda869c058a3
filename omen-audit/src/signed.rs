//! Signed anchors, for auditors without the log's key.
//!
//! The seals of a log can only be checked with its key, which also allows its holder to write a different log. A signed
//! anchor contains the SHA-256 of all lines up to an entry, signed with Ed25519. The public key alone verifies that the
//! log is the signed one up to that entry, and does not allow the log or the anchor to be forged.

use std::fmt;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use ed25519_dalek::Signer as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::anchor::BadAnchor;
use crate::chain::entry::Version;
use crate::error::AuditError;
use crate::key::{Key, KeyError, secret};
use crate::read::read_log;
use crate::store::numbered;
use crate::verify_files::LogVerification;
use omen_base::{canonical, regular_file};

/// Secret half of a key pair. `Debug` does not show it, and it is wiped on drop.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// Creates a key pair: the secret half in a new file that only the owner may read and write, and the public half in
    /// another file with the suffix `.pub`.
    ///
    /// # Errors
    /// If one of the files exists or cannot be written, or no random bytes are available.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        let path = path.as_ref();
        let public = path.with_file_name(
            [path.file_name().unwrap_or_default(), ".pub".as_ref()].into_iter().collect::<std::ffi::OsString>(),
        );
        let unwritten = |source| KeyError::Io { path: public.clone(), source };
        // Created first, so that no secret half is left without its public half.
        let mut file = fs::File::create_new(&public).map_err(unwritten)?;
        let made = secret::create(path).map(|bytes| Self(ed25519_dalek::SigningKey::from_bytes(&bytes)));
        let key = match made {
            Ok(key) => key,
            Err(error) => {
                fs::remove_file(&public).map_err(unwritten)?;
                return Err(error);
            }
        };
        io::Write::write_all(&mut file, format!("{}\n", key.public()).as_bytes()).map_err(unwritten)?;
        file.sync_all().map_err(unwritten)?;
        Ok(key)
    }

    /// Reads the secret half. Only the owner may have permissions on its file.
    ///
    /// # Errors
    /// If the file cannot be read, is not a regular file, is accessible to others, or contains no key.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        let text = secret::read(path.as_ref())?;
        let mut bytes = Zeroizing::new([0; 32]);
        decode(&text, bytes.as_mut())?;
        Ok(Self(ed25519_dalek::SigningKey::from_bytes(&bytes)))
    }

    /// Returns the public half.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(..)")
    }
}

/// Public half of a key pair, written as 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(ed25519_dalek::VerifyingKey);

impl PublicKey {
    /// Reads the public half from a file.
    ///
    /// # Errors
    /// If the file cannot be read, is not a regular file, or contains no key.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        let path = path.as_ref();
        let read = regular_file::read(path, MAX_FILE);
        let bytes = read.map_err(|source| KeyError::Io { path: path.to_owned(), source })?;
        let text = String::from_utf8(bytes).map_err(|_| KeyError::NotPair)?;
        let mut bytes = [0; 32];
        decode(&text, &mut bytes)?;
        ed25519_dalek::VerifyingKey::from_bytes(&bytes).map(Self).map_err(|_| KeyError::NotPublic)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", base16ct::HexDisplay(self.0.as_bytes()))
    }
}

/// Signed state of a log up to an entry. Its text is one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedAnchor(SignedState);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedState {
    /// Number of entries up to this one.
    count: u64,
    /// SHA-256 of the entries' lines including line breaks, across all files of the log.
    digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    v: Version,
}

impl SignedAnchor {
    /// Verifies a log and signs all of it. If the log is not sound, nothing is signed, and the verification says why.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn sign(
        log: impl AsRef<Path>,
        key: &Key,
        signing_key: &SigningKey,
    ) -> Result<Result<Self, LogVerification>, AuditError> {
        let mut digest = Sha256::new();
        // The line of a sound entry is its canonical text.
        let found = read_log(log, key, None, &mut |entry| {
            digest.update(entry.line());
            digest.update("\n");
        })?;
        let Some(last) = found.last().filter(|_| found.is_sound()) else { return Ok(Err(found)) };
        let mut signed =
            SignedState { count: last.entries, digest: hex(&digest.finalize()), signature: None, v: Version };
        let signature = signing_key.0.sign(&signed.message()?);
        signed.signature = Some(hex(&signature.to_bytes()));
        Ok(Ok(Self(signed)))
    }

    /// Reads an anchor from a file if it was signed with the secret half of this key.
    ///
    /// # Errors
    /// If the file cannot be read, is not an anchor, or has a different signature.
    pub fn from_file(path: impl AsRef<Path>, key: &PublicKey) -> Result<Self, BadAnchor> {
        let path = path.as_ref();
        let unreadable = |why: String| BadAnchor::Unreadable { path: path.to_owned(), why };
        let bytes = regular_file::read(path, MAX_FILE).map_err(|error| unreadable(error.to_string()))?;
        let signed: SignedState =
            serde_json::from_slice(&bytes).map_err(|error| BadAnchor::NotAnchor(error.to_string()))?;
        let mut signature = [0; 64];
        let text = signed.signature.as_deref().unwrap_or_default();
        decode(text, &mut signature).map_err(|_| BadAnchor::Signature)?;
        let message = SignedState { signature: None, ..signed.clone() };
        let message = message.message().map_err(|error| BadAnchor::NotAnchor(error.to_string()))?;
        let signature = ed25519_dalek::Signature::from_bytes(&signature);
        // Strict verification: rejects signatures on which implementations disagree.
        key.0.verify_strict(&message, &signature).map_err(|_| BadAnchor::Signature)?;
        Ok(Self(signed))
    }

    /// Returns the number of entries in the log.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.count
    }

    /// Verifies the files of a log without its key. Entries after the signed ones are only counted.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn verify(&self, log: impl AsRef<Path>) -> Result<SignedVerdict, AuditError> {
        let log = log.as_ref();
        let (mut digest, mut lines) = (Sha256::new(), 0);
        for number in 1.. {
            let path = numbered(log, number);
            let unusable = |source| AuditError::Io { path: path.clone(), source };
            let file = match regular_file::open(&path) {
                Ok(file) => file,
                Err(error) if number > 1 && error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(unusable(error)),
            };
            let mut file = BufReader::new(file);
            // Lines may have any length, so they are hashed piece by piece.
            loop {
                let piece = match file.fill_buf() {
                    Ok([]) => break,
                    Ok(piece) => piece,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(unusable(error)),
                };
                let end = memchr::memchr(b'\n', piece).map_or(piece.len(), |end| end + 1);
                let (piece, is_whole) = (piece.get(..end).unwrap_or_default(), piece.get(end - 1) == Some(&b'\n'));
                if lines < self.0.count {
                    digest.update(piece);
                }
                lines += u64::from(is_whole);
                file.consume(end);
            }
        }
        if lines < self.0.count {
            return Ok(SignedVerdict::Truncated { have: lines });
        }
        let is_same = hex(&digest.finalize()) == self.0.digest;
        Ok(if is_same { SignedVerdict::Sound { after: lines - self.0.count } } else { SignedVerdict::Tampered })
    }
}

/// Writes the anchor as one line, without a line break.
impl fmt::Display for SignedAnchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = canonical::write(&self.0).map_err(|_| fmt::Error)?;
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

/// Verdict on a log based on a signed anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignedVerdict {
    /// The entries up to the anchor are the signed ones.
    Sound {
        /// Number of later entries, which only the log's key can verify.
        after: u64,
    },
    /// An entry up to the anchor was changed, removed, repeated or moved.
    Tampered,
    /// The log has fewer entries than were signed.
    Truncated {
        /// Number of existing entries.
        have: u64,
    },
}

impl SignedState {
    /// Returns the message to sign. The label prevents a signature for one purpose from being used for another.
    fn message(&self) -> Result<Vec<u8>, AuditError> {
        Ok([LABEL, &canonical::write(self)?].concat())
    }
}

fn hex(bytes: &[u8]) -> String {
    format!("{:x}", base16ct::HexDisplay(bytes))
}

/// Decodes exactly as many digits as the bytes require.
fn decode(digits: &str, bytes: &mut [u8]) -> Result<(), KeyError> {
    let digits = digits.trim_ascii();
    if digits.len() != 2 * bytes.len() {
        return Err(KeyError::NotPair);
    }
    base16ct::mixed::decode(digits, bytes).map(drop).map_err(|_| KeyError::NotPair)
}

const LABEL: &[u8] = b"omen-gate audit log v1: signed anchor";

/// Maximum size of a key or anchor file in bytes.
const MAX_FILE: u64 = 64 * 1024;
