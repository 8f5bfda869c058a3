//! `cargo xtask package`: packages the crates that users depend on, and builds agents with only these packages.
//!
//! The packages are unpacked outside the workspace, so a missing file is noticed. Nothing is downloaded.

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use crate::environment::forget_package;

/// Returns the folders of all packages of the workspace, in the order of its manifest: each after its dependencies.
pub fn members() -> impl Iterator<Item = &'static str> {
    let manifest = include_str!("../../Cargo.toml");
    let members = manifest.split_once("\nmembers = [").and_then(|(_, rest)| rest.split_once(']'));
    members.map_or("", |(members, _)| members).split(',').map(|member| member.trim().trim_matches('"'))
}

/// Returns the packages that users depend on, in the order in which they are published.
///
/// # Errors
/// If the manifest of a member cannot be read.
pub fn published() -> io::Result<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = members().map(|folder| {
        let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml"))?;
        let name = manifest.split('"').nth(1).unwrap_or_default();
        Ok((!manifest.contains("\npublish.workspace = true\n")).then(|| name.to_owned()))
    });
    named.filter_map(Result::transpose).collect()
}

/// Returns the packages that a program uses: all except the command and those that only builds need.
///
/// # Errors
/// As [`published`].
pub fn libraries() -> io::Result<Vec<String>> {
    let mut all = published()?;
    all.retain(|name| !["omen-schema", "omen-codegen", "omen-cli"].contains(&name.as_str()));
    Ok(all)
}

/// Version of all packages, which is that of this one.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Files that each package contains besides its sources.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Creates all packages, unpacks them, and builds with them.
///
/// # Errors
/// If a step fails, or a package lacks a file.
pub fn run() -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    // `TARGET/PROFILE/xtask`
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("this program is not in a target folder")?;
    let cargo = |folder: &Path, arguments: &[&str]| {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        forget_package(&mut command)
            .args(arguments)
            .arg("--offline")
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", target);
        succeeds(&mut command)
    };

    let packages = published()?;
    let named: Vec<&str> = packages.iter().flat_map(|package| ["--package", package]).collect();
    let package = ["package", "--quiet", "--locked", "--no-verify", "--allow-dirty"];
    cargo(&root, &[&package[..], &named].concat())?;

    let folder = Folder::new()?;
    for package in &packages {
        let archive = target.join("package").join(format!("{package}-{VERSION}.crate"));
        succeeds(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&folder.0))?;
        let unpacked = folder.0.join(format!("{package}-{VERSION}"));
        if let Some(missing) = FILES.iter().find(|file| !unpacked.join(file).is_file()) {
            return Err(format!("the package {package} has no {missing}").into());
        }
    }

    // A user's agent, and every package by itself.
    let example = fs::read(root.join("examples/first_episode.rs"))?;
    let profiles = profiles(&fs::read_to_string(root.join("Cargo.toml"))?);
    let lock = fs::read(root.join("Cargo.lock"))?;
    let agent = folder.0.join("agent");
    fs::create_dir_all(agent.join("src"))?;
    fs::write(agent.join("src/main.rs"), example)?;
    let head = format!(
        "[package]\nname = \"agent\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nomen-sdk = \"{VERSION}\"\n\n[workspace]\n"
    );
    let patches = patches(&folder.0, &packages);
    let members: Vec<_> = packages.iter().map(|package| format!("{package}-{VERSION}")).collect();
    let all = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\nexclude = [\"agent\"]\n");
    for (folder, head, command) in [(&agent, head, &["run"][..]), (&folder.0, all, &["check", "--workspace"])] {
        fs::write(folder.join("Cargo.toml"), format!("{head}\n{patches}\n{profiles}"))?;
        // All other crates have the versions of the workspace.
        fs::write(folder.join("Cargo.lock"), &lock)?;
        cargo(folder, &[command, &["--quiet"]].concat())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the part of a manifest that replaces all packages by the unpacked ones in a folder.
fn patches(folder: &Path, packages: &[String]) -> String {
    let unpacked =
        |package: &String| format!("{package} = {{ path = {:?} }}\n", folder.join(format!("{package}-{VERSION}")));
    format!("[patch.crates-io]\n{}", packages.iter().map(unpacked).collect::<String>())
}

/// Returns the profiles of the workspace, so that its builds of other crates can be reused.
fn profiles(manifest: &str) -> String {
    manifest.find("[profile.").and_then(|at| manifest.get(at..)).unwrap_or_default().to_owned()
}

fn succeeds(command: &mut Command) -> io::Result<()> {
    let status = command.status()?;
    if status.success() {
        return Ok(());
    }
    let words = [command.get_program()].into_iter().chain(command.get_args()).map(OsStr::to_string_lossy);
    let words: Vec<_> = words.collect();
    Err(io::Error::other(format!("`{}` failed: {status}", words.join(" "))))
}

/// A folder outside the workspace, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let folder = env::temp_dir().join(format!("omen-packages-{}", std::process::id()));
        fs::create_dir(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed is temporary, so the system removes it.
        let _ = fs::remove_dir_all(&self.0);
    }
}
