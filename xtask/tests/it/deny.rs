//! Dependencies are as `deny.toml` permits: licences, sources, versions, banned crates.

use std::path::Path;
use std::process::Command;

use omen_testkit::Need;

#[test]
fn dependencies_are_as_the_policy_permits() {
    let Some(deny) = Need::Deny.path() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let output = Command::new(deny)
        .args(["--offline", "--locked", "check", "bans", "licenses", "sources"])
        .current_dir(root)
        .output()
        .expect("cargo-deny starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let verdict = String::from_utf8_lossy(&output.stdout);
    assert_eq!(verdict.trim(), "bans ok, licenses ok, sources ok", "{said}");
}
