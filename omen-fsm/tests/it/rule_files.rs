//! A rule is one file, named after its code, with an accepting and a refusing test at its end.

use std::fs;
use std::path::Path;

use omen_types::Code;

/// Folders of the rules, except JSON and SCHEMA: the readers of `omen-types` are generated.
const FOLDERS: [&str; 2] = ["src/rules", "../omen-invariants/src/rules"];

/// Returns the files that are named after a code, with their text.
fn files_of(code: Code) -> Vec<(String, String)> {
    let prefix = format!("{}_", code.as_str().to_ascii_lowercase().replace('-', "_"));
    let mut found = Vec::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_file() && name.starts_with(&prefix) {
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn every_rule_is_one_file_with_its_tests() {
    let checked = Code::ALL.iter().filter(|code| !matches!(code, Code::Json | Code::Schema));
    for code in checked {
        let files = files_of(*code);
        let [(name, text)] = files.as_slice() else {
            panic!("{code} has {} files: {:?}", files.len(), files.iter().map(|(name, _)| name).collect::<Vec<_>>());
        };
        assert!(text.starts_with(&format!("//! {code}, as `")), "{name} does not begin with its code");
        let (check, tests) = text.split_once("#[cfg(test)]").unwrap_or_else(|| panic!("{name} has no tests"));
        assert!(tests.matches("#[test]").count() >= 2, "{name} has not both an accepting and a refusing test");
        assert!(!tests.contains("\npub"), "{name} has code after its tests");
        // The texts are in the schema alone.
        let info = code.info();
        for text in [info.statement, info.rationale, info.help] {
            assert!(!check.contains(text), "{name} types a text of the schema again");
        }
    }
}
