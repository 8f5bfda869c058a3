//! Header values that come from the environment.

use std::fmt;
use std::sync::Arc;

use memchr::memmem;
use zeroize::Zeroizing;

/// Texts that are sent to a server and that nobody else may read. A server that repeats one in its messages, as some do when
/// asked for the headers of a request, would reveal it to the client and its model.
#[derive(Clone, Default)]
pub(super) struct Secrets(Arc<[Zeroizing<String>]>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// Minimum length of a secret: shorter texts occur in many texts by chance.
const SHORTEST: usize = 8;

impl Secrets {
    pub(super) fn new(values: impl IntoIterator<Item = Zeroizing<String>>) -> Self {
        Self(values.into_iter().filter(|value| value.len() >= SHORTEST).collect())
    }

    /// Returns whether one of the secrets occurs verbatim in a text.
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|secret| memmem::find(text.as_bytes(), secret.as_bytes()).is_some())
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::Secrets;

    #[test]
    fn a_secret_is_found_and_not_shown() {
        let secrets = Secrets::new(["s3cr3t-value".to_owned(), "1".to_owned()].map(Zeroizing::new));
        assert!(secrets.are_in("a s3cr3t-value b") && !secrets.are_in("1"));
        assert!(!format!("{secrets:?}").contains("s3cr3t"));
    }
}
