//! The manifests of the crates that users depend on. `cargo xtask package` shows that the packages build.

use serde_json::Value;
use xtask::package::published;

use crate::hermetic::root;

/// The packages of the workspace, as cargo reads their manifests.
fn manifests() -> Vec<Value> {
    let output = omen_testkit::cargo()
        .args(["metadata", "--no-deps", "--locked", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    serde_json::from_value(metadata["packages"].take()).expect("packages")
}

#[test]
fn what_users_depend_on_can_be_published_and_nothing_else() {
    let manifests = manifests();
    let is_published = |manifest: &&Value| manifest["publish"].is_null();
    let mut names: Vec<_> =
        manifests.iter().filter(is_published).filter_map(|manifest| manifest["name"].as_str()).collect();
    let packages = published().expect("the manifests");
    names.sort_by_key(|name| packages.iter().position(|package| name == package));
    assert_eq!(names, packages);
}

#[test]
fn every_package_describes_itself() {
    let manifests = manifests();
    for manifest in manifests.iter().filter(|manifest| manifest["publish"].is_null()) {
        let name = &manifest["name"];
        for (field, most) in [("keywords", 5), ("categories", 5)] {
            let words = manifest[field].as_array().expect("a list");
            assert!((1..=most).contains(&words.len()), "{name}: {field}: {words:?}");
        }
        for field in ["description", "license", "readme", "rust_version"] {
            assert!(manifest[field].as_str().is_some_and(|text| !text.is_empty()), "{name}: no {field}");
        }
    }
}

/// A dependency for tests alone that is published later, or is not, has a path and no version: it is then not in the package.
#[test]
fn every_package_comes_after_those_that_it_depends_on() {
    let packages = published().expect("the manifests");
    let place = |name: &Value| packages.iter().position(|package| name == package);
    let mut count = 0;
    for manifest in &manifests() {
        let (Some(own), name) = (place(&manifest["name"]), &manifest["name"]) else { continue };
        for dependency in manifest["dependencies"].as_array().expect("a list") {
            if dependency["path"].is_null() {
                continue;
            }
            let has_version = dependency["req"] != "*";
            let is_before = place(&dependency["name"]).is_some_and(|other| other < own);
            let is_test = dependency["kind"] == "dev";
            assert!(if is_test { is_before || !has_version } else { is_before && has_version }, "{name}: {dependency}");
            count += 1;
        }
    }
    assert!(count > 30, "only {count} dependencies");
}
