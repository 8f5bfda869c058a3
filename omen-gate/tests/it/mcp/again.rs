//! This test binary, restarted as a server.

use std::env;
use std::fs::File;

use omen_gate::mcp::Launch;

/// Variable with the role of the process. Without it, a test runs as a test.
pub(crate) const ROLE: &str = "OMEN_TEST_ROLE";

/// The test harness writes to standard output, which belongs to the protocol. The shell therefore redirects the output
/// that is read here to this descriptor.
const OUT: &str = "/dev/fd/3";

/// Restarts the binary with a role. `test` must take it before it does anything else.
pub(crate) fn again(test: &str, role: &str) -> Launch {
    Launch::new("/bin/sh")
        .args(["-c", r#"exec "$@" 3>&1 >/dev/null"#, "sh"])
        .arg(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
}

/// Role of this process and output of its server, if it was restarted.
pub(crate) fn role() -> Option<(String, File)> {
    let role = env::var(ROLE).ok()?;
    Some((role, File::options().write(true).open(OUT).unwrap()))
}
