//! The files of a release. `dist::` in the tests of `omen-cli` installs those of the command itself.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests report by failing"
)]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod binary;
mod command;
mod container;
#[cfg(target_os = "linux")]
mod launcher;
mod packages;

use std::path::{Path, PathBuf};

use omen_dist::{Binary, Content, Entry, PLATFORMS, ReleaseFile, SHELLS, pack};

/// The root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A release with a shell script for the command, for the system of the tests.
fn content(script: &str) -> Content {
    let architecture = PLATFORMS.iter().find(|platform| platform.wheel == std::env::consts::ARCH);
    Content {
        version: "1.2.3".to_owned(),
        summary: "Checks things".to_owned(),
        license: "MIT".to_owned(),
        system: Binary { platform: architecture.unwrap_or(&PLATFORMS[0]), glibc: (2, 34) },
        binary: format!("#!/bin/sh\n{script}\n").into_bytes(),
        readme: "# Things\n".to_owned(),
        licenses: vec![Entry::text("LICENSE-MIT", "be free")],
        third_party: Entry::text("THIRD-PARTY.txt", "by others"),
        completions: SHELLS.iter().map(|shell| (shell, format!("complete {}\n", shell.file))).collect(),
        manual: vec![Entry::text("omen-check.1", ".TH omen-check 1\n"), Entry::text("omen.1", ".TH omen 1\n")],
    }
}

/// The files of a release, of which the names end so.
fn packed(content: &Content, end: &str) -> ReleaseFile {
    let mut files = pack(content).expect("it is packed");
    let place = files.iter().position(|file| file.name.ends_with(end));
    files.swap_remove(place.unwrap_or_else(|| panic!("no file `…{end}`")))
}

/// The entries of a compressed tar archive, with their metadata.
fn untar(file: &ReleaseFile) -> Vec<(tar::Header, Entry)> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file.bytes.as_slice()));
    let entries = archive.entries().expect("entries").map(|entry| {
        let mut entry = entry.expect("an entry");
        let (header, path) = (entry.header().clone(), entry.path().expect("a path").display().to_string());
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).expect("its bytes");
        let is_executable = header.mode().expect("a mode") & 0o111 != 0;
        (header, Entry { path, bytes, is_executable })
    });
    entries.collect()
}
