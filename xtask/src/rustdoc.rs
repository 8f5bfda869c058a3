//! A stand-in for rustdoc that writes the public API of a crate as JSON.
//!
//! A stable rustdoc does that only if `RUSTC_BOOTSTRAP` is set. Setting it for cargo as well would change the environment of
//! build scripts and rebuild every dependency. So cargo calls this program, which sets it only for rustdoc.

use std::env;
use std::io::Write as _;
use std::process::{Command, ExitCode};

/// Environment variable that marks a call in place of rustdoc. Its value is the path of the real rustdoc.
pub const REAL: &str = "OMEN_RUSTDOC";

/// Value of `RUSTDOCFLAGS` that makes rustdoc write JSON.
pub const FLAGS: &str = "-Z unstable-options --output-format json";

/// Runs rustdoc if this program was called in its place.
#[must_use]
pub fn stand_in() -> Option<ExitCode> {
    let rustdoc = env::var_os(REAL)?;
    let status = Command::new(&rustdoc).args(env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").status();
    Some(match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            // If writing this fails, there is nothing left to do.
            let _ = writeln!(std::io::stderr(), "error: cannot start `{}`: {error}", rustdoc.display());
            ExitCode::FAILURE
        }
    })
}
