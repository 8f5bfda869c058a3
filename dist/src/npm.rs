//! Packages for npm: one for each platform, which npm installs only there, and the main one, whose launcher starts the platform's
//! binary.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::archive::tar_gz;
use crate::{Content, Entry, Failure, PLATFORMS, Platform, ReleaseFile};

/// The name of the main package; that of a platform has the platform behind it.
const NAME: &str = "omen-cli";

const LAUNCHER: &str = include_str!("../npm/omen.js");

/// What npm reads of a package: `package.json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'c> {
    name: String,
    version: &'c str,
    description: String,
    license: &'c str,
    #[serde(flatten)]
    kind: PackageKind<'c>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum PackageKind<'c> {
    Main {
        bin: BTreeMap<&'static str, &'static str>,
        directories: BTreeMap<&'static str, &'static str>,
        engines: BTreeMap<&'static str, &'static str>,
        optional_dependencies: BTreeMap<String, &'c str>,
    },
    OfPlatform {
        os: [&'static str; 1],
        cpu: [&'static str; 1],
        libc: [&'static str; 1],
        /// Yarn would otherwise keep the package as an archive, from which nothing can be started.
        prefer_unplugged: bool,
    },
}

/// Both packages: that of the platform of the binary, and the main one, which is the same for each platform.
pub(crate) fn release(content: &Content) -> Result<[ReleaseFile; 2], Failure> {
    Ok([main(content)?, of_platform(content)?])
}

fn main(content: &Content) -> Result<ReleaseFile, Failure> {
    let platforms = PLATFORMS.iter().map(|platform| (name(platform), content.version.as_str()));
    let kind = PackageKind::Main {
        bin: BTreeMap::from([("omen", "omen.js")]),
        directories: BTreeMap::from([("man", "man")]),
        engines: BTreeMap::from([("node", ">=18")]),
        optional_dependencies: platforms.collect(),
    };
    let mut entries = vec![Entry::program("omen.js", LAUNCHER)];
    entries.push(Entry::text("README.md", content.readme.as_str()));
    entries.extend(content.manual.iter().map(|page| page.below("man")));
    entries.extend(content.licenses.iter().cloned());
    package(content, NAME.to_owned(), content.summary.clone(), kind, entries)
}

fn of_platform(content: &Content) -> Result<ReleaseFile, Failure> {
    let platform = content.system.platform;
    let (os, cpu) = platform.node;
    let kind = PackageKind::OfPlatform { os: [os], cpu: [cpu], libc: ["glibc"], prefer_unplugged: true };
    let mut entries = vec![Entry::program("omen", content.binary.clone())];
    entries.extend(content.licenses.iter().chain([&content.third_party]).cloned());
    let description = format!("The binary of {NAME} for {os}-{cpu}");
    package(content, name(platform), description, kind, entries)
}

/// The name of the package of a platform, which the launcher makes from what Node.js says of the system.
fn name(platform: &Platform) -> String {
    let (os, cpu) = platform.node;
    format!("{NAME}-{os}-{cpu}")
}

fn package(
    content: &Content,
    name: String,
    description: String,
    kind: PackageKind<'_>,
    mut entries: Vec<Entry>,
) -> Result<ReleaseFile, Failure> {
    let file = format!("{name}-{}.tgz", content.version);
    let manifest = Manifest { name, version: &content.version, description, license: &content.license, kind };
    entries.push(Entry::text("package.json", serde_json::to_string_pretty(&manifest)? + "\n"));
    Ok(ReleaseFile { name: file, bytes: tar_gz("package", entries)? })
}
