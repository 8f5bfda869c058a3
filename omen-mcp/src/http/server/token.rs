//! Bearer token of the server.

use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ctutils::CtEq as _;
use omen_base::regular_file;
use zeroize::Zeroizing;

/// Secret that a client must know.
#[derive(Clone)]
pub struct Token(Arc<Zeroizing<String>>);

/// Does not show the token.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Reason why there is no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the token from `{0}`: {1}")]
    Io(PathBuf, #[source] std::io::Error),
    /// Other users can read the file, which has these permission bits.
    #[error("`{0}` is accessible to others (mode {1:o}); run `chmod 600 {0}`")]
    Open(PathBuf, u32),
    /// The token could be guessed or cannot be sent.
    #[error("invalid token; expected {LEAST} to {MOST} visible ASCII characters, as `omen audit new-key` writes them")]
    Invalid,
}

/// Minimum length of a token in bytes: sixteen random characters cannot be guessed over a network.
const LEAST: usize = 16;

/// Maximum length of a token in bytes.
const MOST: usize = 4096;

impl Token {
    /// Reads a token from a file that only its owner can read. Surrounding white space is ignored.
    ///
    /// # Errors
    /// If the file cannot be read, is accessible to others, or contains no token.
    pub fn from_file(path: &Path) -> Result<Self, TokenError> {
        let unreadable = |error| TokenError::Io(path.to_owned(), error);
        let file = regular_file::open(path).map_err(unreadable)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;

            let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(TokenError::Open(path.to_owned(), mode));
            }
        }
        let mut text = Zeroizing::new(String::with_capacity(2 * MOST));
        file.take(2 * MOST as u64).read_to_string(&mut text).map_err(unreadable)?;
        Self::new(text.trim_ascii().to_owned())
    }

    /// Creates a token from a text.
    ///
    /// # Errors
    /// If the text is too short, too long, or contains characters other than visible ASCII.
    pub fn new(text: String) -> Result<Self, TokenError> {
        let text = Zeroizing::new(text);
        if !(LEAST..=MOST).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Invalid);
        }
        Ok(Self(Arc::new(text)))
    }

    /// Returns whether a text is this token, in time that does not depend on where the two differ.
    pub(super) fn is(&self, sent: &str) -> bool {
        self.0.as_bytes().ct_eq(sent.as_bytes()).to_bool()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Token, TokenError};

    #[test]
    fn a_token_is_long_enough_visible_and_not_shown() {
        for invalid in ["", "short", "0123456789abcde", "0123456789abcde ", "0123456789abcd\u{e9}f"] {
            assert!(matches!(Token::new(invalid.to_owned()), Err(TokenError::Invalid)), "{invalid}");
        }
        let token = Token::new("0123456789abcdef".to_owned()).unwrap();
        assert!(token.is("0123456789abcdef") && !token.is("0123456789abcdeg") && !token.is(""));
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    #[cfg(unix)]
    fn a_file_with_a_token_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, " 0123456789abcdef\r\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Token::from_file(&path), Err(TokenError::Open(_, 0o640))));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Token::from_file(&path).unwrap().is("0123456789abcdef"));
        assert!(matches!(Token::from_file(&folder.path().join("absent")), Err(TokenError::Io(..))));
    }
}
