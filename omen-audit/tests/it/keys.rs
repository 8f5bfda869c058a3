//! Keys: accepted and refused ones, and that no output shows them.

use std::fs;
use std::path::Path;

use omen_audit::KeyError;
use tempfile::TempDir;

use super::*;

const DIGITS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// Creates a file that only the owner may read.
fn private(path: &Path, content: &[u8]) {
    fs::write(path, content).unwrap();
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

/// Whether a key is that of [`key`]: it verifies the anchor.
fn is_the_key(other: &Key) -> bool {
    Anchor::parse(&written(1).anchor.to_string(), other).is_ok()
}

#[test]
fn digits_are_taken_in_any_case_with_a_line_break() {
    for text in [DIGITS.to_owned(), format!("{DIGITS}\n"), format!("{}\r\n", DIGITS.to_uppercase())] {
        assert!(is_the_key(&Key::from_hex(&text).unwrap()), "{text}");
    }
    assert!(!is_the_key(&Key::from_hex(&format!("{DIGITS}01")).unwrap()), "a longer key is another key");
}

#[test]
fn what_is_no_key_is_refused() {
    for text in ["", "\n", &DIGITS[..62], &DIGITS[1..], "key", &format!("{DIGITS} {DIGITS}"), &"zz".repeat(32)] {
        let error = Key::from_hex(text).unwrap_err();
        assert!(matches!(error, KeyError::Short(_) | KeyError::NotHex), "{text}: {error}");
        assert!(error.help().contains("64 random hexadecimal digits"));
    }
    assert!(matches!(Key::from_hex(&"00".repeat(32)), Err(KeyError::Uniform)));
}

#[test]
fn a_key_is_made_once_and_read_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.key");
    let key = Key::create(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!((text.len(), text.trim_end().len()), (65, 64));
    let memory = Memory::default();
    let audit = Audit::over(memory, key, clock(), Options::default()).unwrap();
    assert!(Anchor::parse(&audit.anchor().unwrap().to_string(), &Key::from_file(&path).unwrap()).is_ok());

    let error = Key::create(&path).unwrap_err();
    assert!(matches!(&error, KeyError::Io { source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists));
    assert!(error.help().contains("never overwritten"));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    Key::create(folder.path().join("other.key")).unwrap();
    assert_ne!(fs::read_to_string(folder.path().join("other.key")).unwrap(), text);
}

#[test]
#[cfg(unix)]
fn a_key_file_that_others_have_rights_on_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.key");
    Key::create(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for mode in [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o777] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = Key::from_file(&path).unwrap_err();
        assert!(matches!(error, KeyError::Open { mode: found, .. } if found == mode), "{mode:o}: {error}");
        assert!(error.help().contains("chmod 600"));
    }
    for mode in [0o600, 0o400] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        Key::from_file(&path).unwrap();
    }
}

#[test]
fn what_is_no_key_file_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.key");
    assert!(matches!(Key::from_file(&path), Err(KeyError::Io { .. })));
    assert!(matches!(Key::from_file(folder.path()), Err(KeyError::NotFile(_))));
    for content in [&b"\xff\xfe"[..], b"", DIGITS.repeat(100).as_bytes()] {
        private(&path, content);
        let error = Key::from_file(&path).unwrap_err();
        assert!(matches!(error, KeyError::NotHex | KeyError::Short(0)), "{error}");
    }
    private(&path, DIGITS.as_bytes());
    assert!(is_the_key(&Key::from_file(&path).unwrap()));
}

/// Keys from the environment are covered by the tests that kill a process, which receives its key that way.
#[test]
fn a_variable_that_is_no_key_is_refused() {
    assert!(matches!(Key::from_env("OMEN_NO_SUCH_VARIABLE"), Err(KeyError::NotSet(_))));
    assert!(matches!(Key::from_env("PATH"), Err(KeyError::NotHex)));
}

#[test]
fn a_key_is_not_shown_and_wiped() {
    fn wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}

    let key = Key::from_hex(DIGITS).unwrap();
    assert_eq!(format!("{key:?}"), "Key(..)");
    wiped(&key);
    // The promise of `Key` depends on this: an HMAC is two hash states and a buffer.
    wiped(&sha2::Sha256::default());
    assert_eq!(format!("{:?}", open(Memory::default()).unwrap()), "Audit { .. }");
    for error in [Key::from_hex(&DIGITS[1..]).unwrap_err(), Key::from_hex("secret").unwrap_err()] {
        assert!(!format!("{error} {error:?}").contains("secret") && !error.to_string().contains("0203"), "{error:?}");
    }
}
