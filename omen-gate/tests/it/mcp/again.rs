//! This test binary, run anew as a server.

use std::env;
use std::fs::File;

use omen_gate::mcp::Launch;

/// Names the role of the process. Without it, a test is a test.
pub(crate) const ROLE: &str = "OMEN_TEST_ROLE";

/// The test harness writes to standard output, which belongs to the protocol. So the shell moves the output that we
/// read to this descriptor.
const OUT: &str = "/dev/fd/3";

/// Starts the binary anew with a role. `test` has to take it before it does anything else.
pub(crate) fn again(test: &str, role: &str) -> Launch {
    Launch::new("/bin/sh")
        .args(["-c", r#"exec "$@" 3>&1 >/dev/null"#, "sh"])
        .arg(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
}

/// The role of this process and where its server writes to, if it was started anew.
pub(crate) fn role() -> Option<(String, File)> {
    let role = env::var(ROLE).ok()?;
    Some((role, File::options().write(true).open(OUT).unwrap()))
}
