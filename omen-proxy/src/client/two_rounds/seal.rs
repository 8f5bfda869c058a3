//! Sealed text that a client carries from one round to the next.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Key of a session, which is stored nowhere else.
pub(super) struct Seal([u8; 32]);

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

/// Prefix of the text, which distinguishes it from a server's.
const OURS: &str = "omen-gate.v1.";
/// Domain separator that keeps codes for other data from being valid here.
const DOMAIN: &[u8] = b"omen-gate-request-state/v1\n";

impl Seal {
    pub(super) fn random() -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Self(key))
    }

    pub(super) fn is_ours(text: &str) -> bool {
        text.starts_with(OURS)
    }

    /// Writes the number of a question and the hash of its call as sealed text.
    pub(super) fn close(&self, number: u64, call: &str) -> String {
        let said = format!("{number}.{call}");
        let code = self.mac(&said).map(|mac| base16ct::lower::encode_string(&mac.finalize().into_bytes()));
        format!("{OURS}{said}.{}", code.unwrap_or_default())
    }

    /// Returns the number and hash if the text was sealed with this key and is unchanged.
    pub(super) fn open<'t>(&self, text: &'t str) -> Option<(u64, &'t str)> {
        let (said, code) = text.strip_prefix(OURS)?.rsplit_once('.')?;
        let code = base16ct::lower::decode_vec(code).ok()?;
        self.mac(said)?.verify_slice(&code).ok()?;
        let (number, call) = said.split_once('.')?;
        Some((number.parse().ok()?, call))
    }

    /// Computes the code of a text. INVARIANT: an HMAC accepts keys of any length.
    fn mac(&self, said: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(DOMAIN);
        mac.update(said.as_bytes());
        Some(mac)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{OURS, Seal};

    #[test]
    fn only_what_was_closed_with_a_key_opens_with_it() {
        let (seal, other) = (Seal([7; 32]), Seal([8; 32]));
        let text = seal.close(12, "ab");
        assert_eq!(seal.open(&text), Some((12, "ab")));
        assert_eq!(other.open(&text), None);
        assert!(Seal::random().unwrap().open(&text).is_none());
        for at in 0..text.len() {
            for with in ["", "0", "a", "."] {
                let mut changed = text.clone();
                changed.replace_range(at..=at, with);
                assert!(changed == text || seal.open(&changed).is_none(), "{changed}");
            }
        }
        for changed in [format!("{text}0"), format!("{text}."), text.to_uppercase(), String::new(), OURS.to_owned()] {
            assert!(seal.open(&changed).is_none(), "{changed}");
        }
        assert!(seal.open(&text[..text.rfind('.').unwrap() + 1]).is_none(), "an empty code is none");
    }
}
