//! `cargo xtask figures --build`: the cost of building and testing for someone who has just cloned the repository.
//!
//! Each command runs in a fresh clone of the last commit with an empty target directory, or continues where the previous one
//! stopped. Crates are downloaded in advance. CPU time covers cargo and all programs that it waited for, so it is meaningful
//! even on a busy machine; wall time is not.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::crates::FIRST;
use super::{Bounded, Bounds};
use crate::environment::forget_package;

/// A command to measure, and its bounds.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'m> {
    /// Its name in the report.
    pub name: &'m str,
    /// Arguments of cargo.
    pub arguments: &'m [&'m str],
    /// Whether it continues in the clone and target directory of the previous command.
    pub goes_on: bool,
    /// Maximum number of seconds from start to end, on two otherwise idle cores.
    pub wall: Option<u64>,
    /// Maximum number of seconds of CPU time.
    pub cpu: Option<u64>,
    /// Maximum number of packages compiled.
    pub crates: Option<u64>,
    /// Files that it creates.
    pub sizes: &'m [Size<'m>],
}

/// Files in the target directory whose size is measured.
#[derive(Clone, Copy, Debug)]
pub struct Size<'m> {
    /// Their name in the report.
    pub what: &'m str,
    /// Their folder.
    pub folder: &'m str,
    /// Suffix of their names.
    pub end: &'m str,
    /// Maximum total size in KiB.
    pub most: Option<u64>,
}

const ALONE: Measured<'_> =
    Measured { name: "", arguments: &[], goes_on: false, wall: None, cpu: None, crates: None, sizes: &[] };

/// The README's commands, and the release build of the command.
pub const MEASURED: &[Measured<'_>] = &[
    Measured { name: "first command", arguments: &FIRST, wall: Some(70), cpu: Some(125), crates: Some(50), ..ALONE },
    Measured {
        name: "second command",
        arguments: &["run", "-p", "omen-cli", "--bin", "omen", "--", "check", "schema/examples/valid"],
        goes_on: true,
        ..ALONE
    },
    Measured { name: "agent", arguments: &["build", "-p", "omen-sdk"], cpu: Some(80), crates: Some(60), ..ALONE },
    Measured { name: "test build", arguments: &["test", "--no-run"], wall: Some(240), cpu: Some(480), ..ALONE },
    // Ten minutes together with the build.
    Measured { name: "test run", arguments: &["xtask", "test"], goes_on: true, wall: Some(360), ..ALONE },
    Measured {
        name: "release build",
        arguments: &["build", "--release", "-p", "omen-cli", "--bin", "omen"],
        cpu: Some(240),
        ..ALONE
    },
    Measured {
        name: "release build with nats",
        arguments: &["build", "--release", "-p", "omen-cli", "--bin", "omen", "--features", "nats"],
        cpu: Some(360),
        ..ALONE
    },
    Measured { name: "dist", arguments: &["xtask", "dist"], sizes: &RELEASE, ..ALONE },
];

/// Files that users download.
const RELEASE: [Size<'_>; 4] = [
    Size { what: "binary", folder: "dist", end: "omen", most: Some(14 * 1024) },
    Size { what: "archive", folder: PACKAGES, end: ".tar.gz", most: None },
    Size { what: "wheel", folder: PACKAGES, end: ".whl", most: None },
    Size { what: "packages for npm", folder: PACKAGES, end: ".tgz", most: None },
];

/// Where `cargo xtask dist` puts the files of a release.
const PACKAGES: &str = "dist/packages";

/// Measures commands in clones of a repository. Cargo's output goes to `log` as it arrives.
///
/// # Errors
/// If git or cargo cannot be started, or fails.
pub fn measure(cargo: &OsStr, root: &Path, commands: &[Measured<'_>], log: &mut impl Write) -> io::Result<Bounds> {
    let mut figures = Vec::new();
    let mut fresh = FreshClone::new(root)?;
    // Otherwise the first command would be charged for all downloads.
    fresh.run(cargo, &["fetch", "--locked"], log)?;
    for command in commands {
        if !command.goes_on {
            drop(fresh);
            fresh = FreshClone::new(root)?;
        }
        writeln!(log, "\n=== {}: cargo {}", command.name, command.arguments.join(" "))?;
        let cost = fresh.run(cargo, command.arguments, log)?;
        let found = [
            ("wall s", Some(cost.wall.as_secs()), command.wall),
            // Rounded up, so that CPU time in use is never shown as 0.
            ("CPU s", cost.cpu.map(|cpu| cpu.as_millis().div_ceil(1000) as u64), command.cpu),
            ("crates", Some(cost.crates), command.crates),
        ];
        figures.extend(found.into_iter().map(|(unit, found, bound)| Bounded {
            what: format!("{}: {unit}", command.name),
            found,
            bound,
        }));
        for size in command.sizes {
            let found = Some(fresh.size(size)?.div_ceil(1024));
            figures.push(Bounded { what: format!("{}: KiB", size.what), found, bound: size.most });
        }
    }
    Ok(Bounds(figures))
}

/// Cost of a command.
struct Cost {
    wall: Duration,
    cpu: Option<Duration>,
    crates: u64,
}

/// A fresh clone with its own target directory. It is removed together with everything built.
struct FreshClone(PathBuf);

impl FreshClone {
    fn new(root: &Path) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let fresh = Self(env::temp_dir().join(format!("omen-figures-{}-{number}", process::id())));
        fs::create_dir_all(&fresh.0)?;
        let cloned = Command::new("git").args(["clone", "--quiet"]).arg(root).arg(fresh.clone_folder()).status()?;
        if cloned.success() { Ok(fresh) } else { Err(io::Error::other("`git clone` failed")) }
    }

    fn clone_folder(&self) -> PathBuf {
        self.0.join("clone")
    }

    /// Returns the total size in bytes of files that were created.
    fn size(&self, size: &Size<'_>) -> io::Result<u64> {
        let mut bytes = 0;
        for entry in fs::read_dir(self.0.join("target").join(size.folder))? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().ends_with(size.end) {
                bytes += entry.metadata()?.len();
            }
        }
        Ok(bytes)
    }

    /// Runs a command to its end, and reads from its messages which packages it compiles.
    fn run(&self, cargo: &OsStr, arguments: &[&str], log: &mut impl Write) -> io::Result<Cost> {
        let (start, before) = (Instant::now(), cpu_of_children());
        let mut child = forget_package(&mut Command::new(cargo))
            .args(arguments)
            .current_dir(self.clone_folder())
            .env("CARGO_TARGET_DIR", self.0.join("target"))
            .env("CARGO_TERM_COLOR", "never")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut compiled = BTreeSet::new();
        for line in child.stderr.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
            let line = line?;
            writeln!(log, "{line}")?;
            compiled.extend(line.trim_start().strip_prefix("Compiling ").map(str::to_owned));
        }
        if !child.wait()?.success() {
            return Err(io::Error::other(format!("`cargo {}` failed", arguments.join(" "))));
        }
        let cpu = before.zip(cpu_of_children()).map(|(before, after)| after.saturating_sub(before));
        Ok(Cost { wall: start.elapsed(), cpu, crates: compiled.len() as u64 })
    }
}

impl Drop for FreshClone {
    fn drop(&mut self) {
        // If this fails, files remain in the temporary folder, which the system cleans up.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the CPU time of the programs that this one has waited for, directly or indirectly.
#[cfg(target_os = "linux")]
fn cpu_of_children() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // After the program's name, which may contain anything, comes the third field. Fields 16 and 17 are `cutime` and `cstime`.
    let (_, fields) = stat.rsplit_once(") ")?;
    let ticks = fields.split(' ').skip(13).take(2).map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Duration::from_millis(1000 * ticks / rustix::param::clock_ticks_per_second()))
}

/// Unknown on other systems, which the report shows.
#[cfg(not(target_os = "linux"))]
fn cpu_of_children() -> Option<Duration> {
    None
}
