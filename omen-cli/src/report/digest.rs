//! SHA-256 in the two encodings that the report needs.

use sha2::{Digest as _, Sha256};

/// Encodes a hash in hexadecimal.
pub(super) fn hex(digest: &[u8]) -> String {
    base16ct::lower::encode_string(digest)
}

/// Returns the SHA-256 of some bytes in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the source expression with which a Content-Security-Policy allows exactly this script or style.
pub(super) fn source(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0_usize, |word, at| word << 8 | group.get(at).copied().map_or(0, usize::from));
        for at in 0..4 {
            let letter = LETTERS.get(word >> (18 - 6 * at) & 63).copied().map_or('=', char::from);
            text.push(if at > group.len() { '=' } else { letter });
        }
    }
    text
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    /// Test vectors of RFC 4648.
    #[test]
    fn base64_is_that_of_the_rfc() {
        let vectors = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (length, expect) in vectors.iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..length]), *expect);
        }
    }

    #[test]
    fn an_empty_text_has_the_known_hash() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(source(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}
