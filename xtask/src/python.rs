//! `cargo xtask python`: builds the Python package, installs its wheel into a clean environment, and runs its
//! tests and the type checkers there.

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::environment::forget_package;

/// Variable with the folder of the tools, set by `.ci/install python-package`.
pub const TOOLS: &str = "OMEN_PYTHON_PACKAGE";

/// Runs everything. Without the tools, nothing is run, which is an error if `OMEN_REQUIRE` names them.
///
/// # Errors
/// If a step fails.
pub fn run(out: &mut impl Write) -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let Some(tools) = env::var_os(TOOLS).filter(|path| !path.is_empty()).map(PathBuf::from) else {
        let help = "run `eval \"$(.ci/install python-package)\"`";
        let wanted = env::var_os("OMEN_REQUIRE").unwrap_or_default();
        if wanted.to_string_lossy().split(',').map(str::trim).any(|name| name == "all" || name == "python-package") {
            return Err(format!("{TOOLS} is not set; {help}").into());
        }
        writeln!(out, "skipped: {TOOLS} is not set; {help}")?;
        return Ok(ExitCode::SUCCESS);
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let (package, target) = (root.join("omen-python"), root.join("target"));
    let (wheels, environment) = (target.join("python/wheels"), target.join("python/environment"));
    for folder in [&wheels, &environment] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // As the tests of the workspace have built it: other selections have dependencies with other features, and compile them again.
    let build = ["test", "--locked", "--workspace", "--no-run", "--quiet", "--test", "it"];
    let optimised = optimised_for_tests(&fs::read_to_string(root.join("Cargo.toml"))?);
    if optimised.is_empty() {
        return Err(
            "Cargo.toml has no `[profile.test.package.…]`: the package would be tested without optimisation".into()
        );
    }
    succeeds(forget_package(&mut Command::new(cargo)).args(build).current_dir(&root))?;
    let mut maturin = Command::new(tools.join("bin/maturin"));
    maturin.args(["build", "--profile", "dev", "--locked"]).args(&optimised);
    maturin.arg("--out").arg(&wheels).current_dir(&package);
    succeeds(forget_package(&mut maturin))?;
    succeeds(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;

    let python = environment.join("bin/python");
    let wheel = fs::read_dir(&wheels)?.next().ok_or("maturin has built no wheel")??.path();
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"];
    succeeds(Command::new(&python).args(install).arg(&wheel))?;
    writeln!(out, "{}: {} kB", wheel.display(), fs::metadata(&wheel)?.len() / 1000)?;
    out.flush()?;
    succeeds(Command::new(&python).args(["-c", IMPORT]))?;
    let command = target.join("debug/omen");
    // The tests start the type checkers by name.
    let found = env::var_os("PATH").unwrap_or_default();
    let folders = [tools.join("bin"), tools.join("node_modules/.bin")].into_iter().chain(env::split_paths(&found));
    let path = env::join_paths(folders)?;
    for module in [&["pytest", "-q", "-n", "auto"][..], &["mypy"]] {
        let mut checked = Command::new(&python);
        checked.arg("-m").args(module).current_dir(&package).env("PYTHONPATH", &tools);
        checked.env("OMEN_COMMAND", &command).env("PATH", &path);
        succeeds(&mut checked)?;
    }
    let cache = target.join("python/stubs-cache");
    let mut stubs = Command::new(&python);
    stubs
        .args(["-m", "mypy", "--strict", "--cache-dir"])
        .arg(cache)
        .args(what_programs_see(&package.join("python/omen"))?);
    succeeds(stubs.current_dir(&package).env("PYTHONPATH", &tools).env("MYPYPATH", "python"))?;
    let mut pyright = Command::new("node");
    pyright.arg(tools.join("node_modules/pyright/index.js")).arg("--pythonpath").arg(&python);
    succeeds(pyright.current_dir(&package).env("PYTHONPATH", &tools))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the arguments with which cargo optimises in a development build what it optimises in builds of tests: without them, the
/// tests of the package take several times as long. The profile of tests itself would build the library as a test.
fn optimised_for_tests(manifest: &str) -> Vec<String> {
    let tables = manifest.split("\n[profile.test.package.").skip(1).filter_map(|table| table.split_once("]\n"));
    let settings = tables.flat_map(|(package, rest)| {
        let lines = rest.lines().map_while(|line| line.split_once(" = "));
        lines.map(move |(key, value)| format!("--config=profile.dev.package.{package}.{key}={value}"))
    });
    settings.collect()
}

/// Returns the stubs, and the modules without one. A module that uses what is behind the stub of another one is checked without stubs,
/// by `tests/test_types.py` of the package.
fn what_programs_see(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error + Send + Sync>> {
    let mut found = Vec::new();
    for folder in [folder, &folder.join("adapters")] {
        for entry in fs::read_dir(folder)? {
            found.push(entry?.path());
        }
    }
    let is = |path: &Path, end: &str| path.extension().is_some_and(|extension| extension == end);
    found.retain(|path| {
        is(path, "pyi") || is(path, "py") && !path.with_extension("pyi").exists() && !path.ends_with("_moves.py")
    });
    if found.len() < 15 {
        return Err(
            format!("`{}` should have at least 15 modules to check, and has only {found:?}", folder.display()).into()
        );
    }
    Ok(found)
}

/// Prints how long the imports take. This also depends on the load of the machine, so it is a figure rather than a test.
const IMPORT: &str = "import time; begun = time.perf_counter(); import omen; package = time.perf_counter(); import omen.packets; \
                      packets = time.perf_counter(); print(f'import omen: {(package - begun) * 1e3:.1f} ms, import omen.packets: \
                      {(packets - package) * 1e3:.1f} ms')";

fn succeeds(command: &mut Command) -> Result<(), Box<dyn Error + Send + Sync>> {
    let words: Vec<_> =
        [command.get_program()].into_iter().chain(command.get_args()).map(OsStr::to_string_lossy).collect();
    let shown = words.join(" ");
    let status = command.status().map_err(|error| format!("cannot start `{shown}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed").into()) }
}
