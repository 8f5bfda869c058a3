//! Files in `deploy/` are valid by the schemas of Compose and Kubernetes. `.ci/install` installs the validators.

use std::path::Path;
use std::process::Command;

use omen_testkit::Need;

fn check(args: &[&str], file: &str) {
    let Some(schemas) = Need::Schemas.path() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
    let output = Command::new("python3")
        .arg("-m")
        .args(args)
        .arg(file)
        .env("PYTHONPATH", schemas)
        .current_dir(folder)
        .output()
        .expect("python3 starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
fn the_compose_file_is_valid() {
    check(&["check_jsonschema", "--builtin-schema", "vendor.compose-spec"], "compose.yaml");
}

#[test]
fn the_manifests_of_kubernetes_are_valid() {
    check(&["kubernetes_validate", "--strict"], "kubernetes.yaml");
}
