//! Headers that are sent to a server with each request, in addition to those of the protocol.

use std::fmt;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue, USER_AGENT};
use memchr::memmem;
use zeroize::Zeroizing;

use super::error::BadRemote;

/// Headers that are sent to a server with each request, in addition to those of the protocol.
#[derive(Clone)]
pub struct SentHeaders {
    pub(super) values: HeaderMap,
    /// Texts from the environment that nobody else may read. A server that repeats one in its messages, as some do when asked for
    /// the headers of a request, would reveal it to the client and its model.
    secrets: Vec<Zeroizing<String>>,
}

/// Does not show the values.
impl fmt::Debug for SentHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SentHeaders").finish_non_exhaustive()
    }
}

/// Has only the name of this program.
impl Default for SentHeaders {
    fn default() -> Self {
        let agent = HeaderValue::from_static(concat!("omen/", env!("CARGO_PKG_VERSION")));
        Self { values: HeaderMap::from_iter([(USER_AGENT, agent)]), secrets: Vec::new() }
    }
}

/// Minimum length of a secret: shorter texts occur in many texts by chance.
const SHORTEST: usize = 8;

impl SentHeaders {
    /// Adds a header.
    ///
    /// # Errors
    /// If it cannot be sent.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), BadRemote> {
        self.insert(name, HeaderValue::from_str(value).ok(), "")
    }

    /// Adds a header with a secret value: the value of an environment variable after a prefix, such as `Bearer `.
    ///
    /// # Errors
    /// If the variable has no value, or one that cannot be sent.
    pub fn add_variable(&mut self, name: &str, prefix: &str, variable: &str) -> Result<(), BadRemote> {
        let value = std::env::var(variable).map(Zeroizing::new).unwrap_or_default();
        let secret = value.trim();
        if secret.is_empty() {
            return Err(BadRemote::NoVariable(variable.to_owned(), name.to_owned()));
        }
        let is_visible = secret.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        let whole = Zeroizing::new([prefix, secret].concat());
        self.insert(name, hidden(&whole).filter(|_| is_visible), variable)?;
        // Without a scheme contained in the variable itself, which a server that repeats the secret may omit.
        self.add_secret(secret.split_once(' ').map_or(secret, |(_, rest)| rest.trim_start()));
        Ok(())
    }

    fn insert(&mut self, name: &str, value: Option<HeaderValue>, variable: &str) -> Result<(), BadRemote> {
        let bad = || BadRemote::BadVariable(variable.to_owned(), name.to_owned());
        let (header, value) = HeaderName::from_bytes(name.as_bytes()).ok().zip(value).ok_or_else(bad)?;
        self.values.insert(header, value);
        Ok(())
    }

    fn add_secret(&mut self, secret: &str) {
        self.secrets.extend((secret.len() >= SHORTEST).then(|| Zeroizing::new(secret.to_owned())));
    }

    /// Returns whether one of the secrets occurs verbatim in a text.
    pub(super) fn has_secret_in(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| memmem::find(text.as_bytes(), secret.as_bytes()).is_some())
    }
}

/// Returns a text as the value of a header that is never shown.
pub(super) fn hidden(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::SentHeaders;

    #[test]
    fn a_secret_is_found_and_not_shown() {
        let mut headers = SentHeaders::default();
        headers.add_secret("s3cr3t-value");
        headers.add_secret("1");
        assert!(headers.has_secret_in("a s3cr3t-value b") && !headers.has_secret_in("1"));
        assert!(!format!("{headers:?}").contains("s3cr3t"));
    }
}
