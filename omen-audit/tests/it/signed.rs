//! Signed anchors: verification of a log without its key.

use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use omen_audit::store::numbered;
use omen_audit::{BadAnchor, KeyError, PublicKey, SignedAnchor, SignedVerdict, SigningKey};
use omen_testkit::proofs::Proofs;
use tempfile::TempDir;

use super::*;

/// Log of several files with a signed anchor, and more entries after it.
struct Signed {
    folder: TempDir,
    log: PathBuf,
    anchor: SignedAnchor,
    /// All bytes of the log in order, and the signed ones.
    bytes: Vec<u8>,
    signed: usize,
}

fn signed() -> Signed {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.jsonl");
    let options = || Options { rotate_bytes: NonZeroU64::new(1000), ..Options::default() };
    let more = |numbers: std::ops::Range<u64>| {
        let audit = Audit::open(&log, key(), clock(), options()).unwrap();
        numbers.for_each(|n| assert!(record(&audit, n).is_ok()));
    };
    more(0..10);
    let pair = SigningKey::create(folder.path().join("sign.key")).unwrap();
    let anchor = SignedAnchor::sign(&log, &key(), &pair).unwrap().unwrap();
    let signed = all(&log).len();
    more(10..13);
    let bytes = all(&log);
    Signed { folder, log, anchor, bytes, signed }
}

fn all(log: &Path) -> Vec<u8> {
    (1..).map_while(|number| fs::read(numbered(log, number)).ok()).flatten().collect()
}

#[test]
fn what_was_signed_is_verified_through_all_files() {
    let Signed { folder: _folder, log, anchor, bytes, signed } = signed();
    assert!(numbered(&log, 2).exists());
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!(anchor.count(), lines(&bytes[..signed]));
    assert_eq!(anchor.verify(&log).unwrap(), SignedVerdict::Sound { after: lines(&bytes[signed..]) });
}

/// Changes each byte, by default each 19th and those around the end of the signed part, of the log as one file: the
/// split into files is not signed; the key of the log verifies that.
#[test]
fn every_change_of_what_was_signed_is_found() {
    let Signed { folder, anchor, bytes, signed, .. } = signed();
    let log = folder.path().join("one.jsonl");
    let verdict = |bytes: &[u8]| {
        fs::write(&log, bytes).unwrap();
        anchor.verify(&log).unwrap()
    };
    assert!(matches!(verdict(&bytes), SignedVerdict::Sound { .. }));
    let tried = (0..bytes.len()).step_by(Proofs::wanted().choose(19, 1));
    for at in tried.chain([signed - 1, signed]) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let is_sound = matches!(verdict(&changed), SignedVerdict::Sound { .. });
        assert_eq!(is_sound, at >= signed, "byte {at}");
    }
    for cut in (0..signed).step_by(7) {
        let have = bytes[..cut].iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(verdict(&bytes[..cut]), SignedVerdict::Truncated { have });
    }
}

#[test]
fn an_anchor_cannot_be_made_up() {
    let Signed { folder, anchor, .. } = signed();
    let public = PublicKey::from_file(folder.path().join("sign.key.pub")).unwrap();
    let file = folder.path().join("signed");
    let read = |text: &str| {
        fs::write(&file, text).unwrap();
        SignedAnchor::from_file(&file, &public)
    };
    let text = anchor.to_string();
    assert_eq!(read(&format!(" {text}\n")).unwrap(), anchor);
    for at in 0..text.len() {
        for value in *b"09af\"} ," {
            let mut changed = text.clone().into_bytes();
            if changed[at] == value {
                continue;
            }
            changed[at] = value;
            let _ = read(&String::from_utf8(changed).unwrap()).unwrap_err();
        }
    }
    let unsigned = text.replace("\"signature\"", "\"signatur\"");
    assert!(matches!(read(&unsigned), Err(BadAnchor::NotAnchor(_))));
    let other = SigningKey::create(folder.path().join("other.key")).unwrap().public();
    fs::write(&file, &text).unwrap();
    assert_eq!(SignedAnchor::from_file(&file, &other), Err(BadAnchor::Signature));
}

#[test]
fn a_secret_half_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = TempDir::new().unwrap();
    let path = folder.path().join("sign.key");
    let pair = SigningKey::create(&path).unwrap();
    assert_eq!(SigningKey::from_file(&path).unwrap().public(), pair.public());
    assert_eq!(format!("{pair:?}"), "SigningKey(..)");
    let public = fs::read_to_string(folder.path().join("sign.key.pub")).unwrap();
    assert_eq!(public, format!("{}\n", pair.public()));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(SigningKey::from_file(&path), Err(KeyError::Open { mode: 0o640, .. })));
    fs::write(&path, "not a key").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(SigningKey::from_file(&path), Err(KeyError::NotPair)));
}
