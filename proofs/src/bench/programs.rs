//! Measured programs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;

#[path = "../../../xtask/src/environment.rs"]
pub(super) mod environment;

/// Builds the measured command with optimizations, and returns its path beside this program.
pub(super) fn built(own: &Path, features: &[&str]) -> Result<PathBuf, Failure> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet", "--release", "--package", "omen-cli", "--bin", "omen"]).args(features);
    let built = environment::forget_package(&mut command).status()?;
    let omen = own.with_file_name("omen").with_extension(env::consts::EXE_EXTENSION);
    match built.success() && omen.is_file() {
        true => Ok(omen),
        false => Err("the command `omen` cannot be built".into()),
    }
}
