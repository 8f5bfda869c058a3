//! Standing in for rustdoc, so that it tells the public API of a crate as JSON.
//!
//! A stable rustdoc does that only where `RUSTC_BOOTSTRAP` is set. If it were set for cargo, too, build scripts would
//! find another environment, and all dependencies would be built anew, back and forth. So cargo calls this program,
//! which sets it for rustdoc alone.

use std::env;
use std::io::Write as _;
use std::process::{Command, ExitCode};

/// If this is set in the environment, cargo calls this program in place of rustdoc. It holds the real one.
pub const REAL: &str = "OMEN_RUSTDOC";

/// What makes rustdoc write JSON, for `RUSTDOCFLAGS`.
pub const FLAGS: &str = "-Z unstable-options --output-format json";

/// Does what rustdoc does, if this program was called in its place.
#[must_use]
pub fn stand_in() -> Option<ExitCode> {
    let rustdoc = env::var_os(REAL)?;
    let status = Command::new(&rustdoc).args(env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").status();
    Some(match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            // Nothing is left to do if even this cannot be written.
            let _ = writeln!(std::io::stderr(), "error: cannot start `{}`: {error}", rustdoc.display());
            ExitCode::FAILURE
        }
    })
}
