//! `cargo xtask package`: packages the crates that users depend on, and builds agents with the packages alone.
//!
//! The packages are unpacked outside the workspace, so a file that did not travel with them is missed. Nothing is downloaded.

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

/// The packages that users depend on, in the order in which they are published: each after those that it depends on.
pub const PACKAGES: [&str; 10] = [
    "omen-schema",
    "omen-codegen",
    "omen-types",
    "omen-invariants",
    "omen-fsm",
    "omen-gate",
    "omen-sdk",
    "omen-proxy",
    "omen-worker",
    "omen-cli",
];

/// All packages have the version of this one.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Files that each package has, besides its sources.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Packages all, unpacks them, and builds with them.
///
/// # Errors
/// If something does not succeed, or a package lacks a file.
pub fn run() -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    // `TARGET/PROFILE/xtask`
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("this program is not in a target folder")?;
    let cargo = |folder: &Path, arguments: &[&str]| {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(arguments).arg("--offline").current_dir(folder).env("CARGO_TARGET_DIR", target);
        succeeds(&mut command)
    };

    let named: Vec<&str> = PACKAGES.iter().flat_map(|package| ["--package", package]).collect();
    let package = ["package", "--quiet", "--locked", "--no-verify", "--allow-dirty"];
    cargo(&root, &[&package[..], &named].concat())?;

    let folder = Folder::new()?;
    for package in PACKAGES {
        let archive = target.join("package").join(format!("{package}-{VERSION}.crate"));
        succeeds(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&folder.0))?;
        let unpacked = folder.0.join(format!("{package}-{VERSION}"));
        if let Some(missing) = FILES.iter().find(|file| !unpacked.join(file).is_file()) {
            return Err(format!("the package {package} has no {missing}").into());
        }
    }

    // An agent of a user, and something that depends on every package.
    let example = fs::read_to_string(root.join("examples/first_episode.rs"))?;
    let profiles = profiles(&fs::read_to_string(root.join("Cargo.toml"))?);
    let lock = fs::read(root.join("Cargo.lock"))?;
    for (name, packages, source, command) in
        [("agent", &["omen-sdk"][..], &*example, "run"), ("everything", &PACKAGES, "fn main() {}\n", "check")]
    {
        let folder = folder.0.join(name);
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/main.rs"), source)?;
        fs::write(folder.join("Cargo.toml"), manifest(name, packages, &profiles))?;
        // The versions of all other crates are those of the workspace.
        fs::write(folder.join("Cargo.lock"), &lock)?;
        cargo(&folder, &[command, "--quiet"])?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A manifest outside any workspace, in which all packages are the unpacked ones.
fn manifest(name: &str, packages: &[&str], profiles: &str) -> String {
    let dependencies: String = packages.iter().map(|package| format!("{package} = \"{VERSION}\"\n")).collect();
    let unpacked = PACKAGES.map(|package| format!("{package} = {{ path = \"../{package}-{VERSION}\" }}\n")).concat();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n{dependencies}\n[patch.crates-io]\n{unpacked}\n{profiles}"
    )
}

/// The profiles of the workspace, with which its builds of other crates can be used again.
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
        // A folder that cannot be removed is the system's to remove: it is temporary.
        let _ = fs::remove_dir_all(&self.0);
    }
}
