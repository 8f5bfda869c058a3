//! What is in each file of a release.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Cursor, Read as _};

use data_encoding::BASE64URL_NOPAD;
use omen_dist::{CHECKSUMS, PLATFORMS, pack};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::*;

/// The permissions and the content of each entry, by name.
type Unzipped = BTreeMap<String, (u32, Vec<u8>)>;

/// The names of the entries of the wheel in their order, and the entries.
fn unzip(file: &ReleaseFile) -> (Vec<String>, Unzipped) {
    let mut zip = zip::ZipArchive::new(Cursor::new(&file.bytes)).expect("a zip archive");
    let (mut names, mut entries) = (Vec::new(), BTreeMap::new());
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).expect("an entry");
        assert_eq!(entry.last_modified(), Some(zip::DateTime::DEFAULT), "{}", entry.name());
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("its bytes");
        names.push(entry.name().to_owned());
        entries.insert(entry.name().to_owned(), (entry.unix_mode().expect("a mode") & 0o777, bytes));
    }
    (names, entries)
}

fn manifest(file: &ReleaseFile) -> Value {
    let entries = untar(file);
    let (_, entry) = entries.iter().find(|(_, entry)| entry.path == "package/package.json").expect("a manifest");
    serde_json::from_slice(&entry.bytes).expect("JSON")
}

#[test]
fn a_release_has_the_same_names_and_bytes_each_time() {
    let content = content("exit 0");
    let (one, other) = (pack(&content).unwrap(), pack(&content).unwrap());
    assert_eq!(one, other);
    let platform = content.system.platform;
    let (os, cpu) = platform.node;
    let names: Vec<_> = one.iter().map(|file| file.name.clone()).collect();
    assert_eq!(
        names,
        [
            format!("omen-1.2.3-{}.tar.gz", platform.target),
            "omen-cli-1.2.3.tgz".to_owned(),
            format!("omen-cli-{os}-{cpu}-1.2.3.tgz"),
            format!("omen_cli-1.2.3-py3-none-manylinux_2_34_{}.whl", platform.wheel),
            CHECKSUMS.to_owned(),
        ]
    );
}

/// An archive does not record who has packed it, or when.
#[test]
fn entries_are_sorted_and_have_no_time_and_no_owner() {
    let content = content("exit 0");
    for end in ["tar.gz", "omen-cli-1.2.3.tgz", "64-1.2.3.tgz"] {
        let file = packed(&content, end);
        // The time in the header of gzip, and the system.
        assert_eq!((&file.bytes[4..8], file.bytes[9]), (&[0; 4][..], 255), "{end}");
        let entries = untar(&file);
        assert!(entries.is_sorted_by_key(|(_, entry)| entry.path.clone()), "{end}");
        for (header, entry) in entries {
            let numbers = (header.mtime().unwrap(), header.uid().unwrap(), header.gid().unwrap());
            assert_eq!(numbers, (499_162_500, 0, 0), "{end}: {}", entry.path);
        }
    }
}

#[test]
fn the_archive_has_all_that_people_install_by_hand() {
    let content = content("exit 0");
    let folder = format!("omen-1.2.3-{}", content.system.platform.target);
    let entries: BTreeMap<_, _> =
        untar(&packed(&content, "tar.gz")).into_iter().map(|(_, entry)| (entry.path.clone(), entry)).collect();
    let expected = [
        "LICENSE-MIT",
        "README.md",
        "THIRD-PARTY.txt",
        "completions/_omen",
        "completions/_omen.ps1",
        "completions/omen.bash",
        "completions/omen.fish",
        "man/man1/omen-check.1",
        "man/man1/omen.1",
        "omen",
    ];
    assert_eq!(entries.keys().cloned().collect::<Vec<_>>(), expected.map(|name| format!("{folder}/{name}")));
    let programs: Vec<_> = entries.values().filter(|entry| entry.is_executable).map(|entry| &entry.bytes).collect();
    assert_eq!(programs, [&content.binary]);
}

/// By `RECORD`, an installer verifies what it installs, and finds what it has to remove.
#[test]
fn the_record_of_the_wheel_has_the_hash_of_each_file() {
    let content = content("exit 0");
    let (names, entries) = unzip(&packed(&content, ".whl"));
    let record = "omen_cli-1.2.3.dist-info/RECORD";
    assert_eq!(names.last().map(String::as_str), Some(record));
    assert!(names[..names.len() - 1].is_sorted());
    let text = std::str::from_utf8(&entries[record].1).unwrap();
    let mut listed = BTreeSet::new();
    for line in text.lines() {
        let [path, hash, size] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        listed.insert(path.to_owned());
        if path == record {
            assert_eq!((hash, size), ("", ""));
            continue;
        }
        let bytes = &entries[path].1;
        assert_eq!(hash, format!("sha256={}", BASE64URL_NOPAD.encode(&Sha256::digest(bytes))), "{path}");
        assert_eq!(size, bytes.len().to_string(), "{path}");
    }
    assert_eq!(listed, entries.keys().cloned().collect());
    let programs: Vec<_> = entries.iter().filter(|(_, (mode, _))| *mode == 0o755).map(|(name, _)| name).collect();
    assert_eq!(programs, ["omen_cli-1.2.3.data/scripts/omen"]);
}

#[test]
fn the_wheel_describes_itself() {
    let content = content("exit 0");
    let file = packed(&content, ".whl");
    let (_, entries) = unzip(&file);
    let text = |name: &str| String::from_utf8(entries[&format!("omen_cli-1.2.3.dist-info/{name}")].1.clone()).unwrap();
    let tag = file.name.strip_prefix("omen_cli-1.2.3-").unwrap().strip_suffix(".whl").unwrap();
    assert!(text("WHEEL").contains(&format!("\nRoot-Is-Purelib: false\nTag: {tag}\n")), "{}", text("WHEEL"));
    let metadata = text("METADATA");
    let (fields, readme) = metadata.split_once("\n\n").unwrap();
    assert_eq!(readme, content.readme);
    let expected = ["Name: omen-cli", "Version: 1.2.3", "Summary: Checks things", "License-Expression: MIT"];
    for field in expected {
        assert!(fields.lines().any(|line| line == field), "{field}: {fields}");
    }
    // Each license that is named is there.
    let named: Vec<_> = fields.lines().filter_map(|line| line.strip_prefix("License-File: ")).collect();
    assert_eq!(named, ["LICENSE-MIT", "THIRD-PARTY.txt"]);
    named.iter().for_each(|name| assert!(!text(&format!("licenses/{name}")).is_empty()));
    for path in ["man/man1/omen.1", "bash-completion/completions/omen", "zsh/site-functions/_omen"] {
        assert!(entries.contains_key(&format!("omen_cli-1.2.3.data/data/share/{path}")), "{path}");
    }
}

/// Python writes versions before a release in another way, and the name of the file would not be the one that installers expect.
#[test]
fn a_version_that_python_writes_in_another_way_is_refused() {
    let error = pack(&Content { version: "1.2.3-rc.1".to_owned(), ..content("") }).expect_err("it is refused");
    assert_eq!(error.to_string(), "expected a version such as 1.2.3 for the wheel, found `1.2.3-rc.1`");
}

#[test]
fn npm_installs_the_binary_of_the_platform() {
    let content = content("exit 0");
    let (os, cpu) = content.system.platform.node;
    let main = manifest(&packed(&content, "omen-cli-1.2.3.tgz"));
    let own = manifest(&packed(&content, "64-1.2.3.tgz"));
    for (package, name) in [(&main, "omen-cli".to_owned()), (&own, format!("omen-cli-{os}-{cpu}"))] {
        assert_eq!((&package["name"], &package["version"]), (&Value::from(name), &Value::from("1.2.3")));
        assert_eq!(package["license"], "MIT");
    }
    let platforms = PLATFORMS.iter().map(|platform| format!("omen-cli-{}-{}", platform.node.0, platform.node.1));
    let optional = main["optionalDependencies"].as_object().expect("an object");
    assert_eq!(optional.keys().cloned().collect::<BTreeSet<_>>(), platforms.collect());
    assert!(optional.values().all(|version| version == "1.2.3"), "the versions are the same");
    assert_eq!(
        [&own["os"], &own["cpu"], &own["libc"]],
        [&serde_json::json!([os]), &serde_json::json!([cpu]), &serde_json::json!(["glibc"])]
    );
    let programs = |end| {
        let entries = untar(&packed(&content, end)).into_iter();
        entries.filter(|(_, entry)| entry.is_executable).map(|(_, entry)| entry.path).collect::<Vec<_>>()
    };
    assert_eq!(programs("omen-cli-1.2.3.tgz"), ["package/omen.js"]);
    assert_eq!(programs("64-1.2.3.tgz"), ["package/omen"]);
}

#[test]
fn the_checksums_are_those_of_the_files() {
    let files = pack(&content("exit 0")).unwrap();
    let (sums, files) = files.split_last().unwrap();
    let expected = files.iter().map(|file| {
        let hash: String = Sha256::digest(&file.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{hash}  {}\n", file.name)
    });
    assert_eq!(std::str::from_utf8(&sums.bytes).unwrap(), expected.collect::<String>());
}

/// `cargo binstall` finds the archive and the binary in it by these patterns.
#[test]
fn cargo_binstall_finds_the_archive() {
    let manifest = fs::read_to_string(root().join("omen-cli/Cargo.toml")).unwrap();
    let (_, section) = manifest.split_once("\n[package.metadata.binstall]\n").expect("a section");
    let pattern = |key: &str| {
        let line = section.lines().find_map(|line| line.strip_prefix(&format!("{key} = \""))).expect(key);
        let content = content("exit 0");
        let (target, pattern) = (content.system.platform.target, line.trim_end_matches('"'));
        let known = [("version", &*content.version), ("target", target), ("bin", "omen"), ("binary-ext", "")];
        known.iter().fold(pattern.to_owned(), |text, (name, value)| text.replace(&format!("{{ {name} }}"), value))
    };
    let archive = packed(&content("exit 0"), "tar.gz");
    assert_eq!(pattern("pkg-url"), format!("{{ repo }}/releases/download/v1.2.3/{}", archive.name));
    assert_eq!(pattern("pkg-fmt"), "tgz");
    let inside = pattern("bin-dir");
    assert!(untar(&archive).iter().any(|(_, entry)| entry.path == inside && entry.is_executable), "{inside}");
}
