//! Somebody who is new waits only for the crates that the library needs.

use std::ffi::OsStr;
use std::path::Path;

use xtask::figures::{COMPILED, Compiled, compiled};
use xtask::package::published;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

#[test]
fn an_agent_and_the_first_command_compile_few_crates() {
    let cargo = OsStr::new(env!("CARGO"));
    for counted in COMPILED {
        let crates = counted.crates(cargo, root()).expect("cargo tree");
        for heavy in ["annotate-snippets", "clap", "indicatif", "jsonschema", "omen-gate", "rmcp"] {
            let is_there = crates.iter().any(|name| name.starts_with(&format!("{heavy} ")));
            assert!(!is_there, "{}: {heavy} is compiled; make it a feature", counted.name);
        }
        assert!(crates.iter().any(|name| name.starts_with("omen-codegen ")), "build scripts count: {crates:?}");
        let mut names: Vec<_> = crates.iter().map(|name| name.split(' ').take(2).collect::<Vec<_>>()).collect();
        names.dedup();
        assert_eq!(names.len(), crates.len(), "a crate is compiled twice, with different features: {crates:#?}");
        assert!(crates.len() as u64 <= counted.most, "{}: {} crates: {crates:?}", counted.name, crates.len());
    }
    assert!(compiled(cargo, root()).expect("cargo tree").are_kept());
    let agent = COMPILED.iter().find(|counted| counted.name == "agent").expect("the agent");
    let crates = agent.crates(cargo, root()).expect("cargo tree");
    assert!(!crates.iter().any(|name| name.starts_with("tokio ")), "tokio is compiled for every agent");
}

/// Whichever package is built first with its default features: the others that run the generator then wait less.
#[test]
fn the_generator_is_compiled_once_for_all_builds() {
    let crates = |package: &str, edges: &str| {
        let counted = Compiled { name: "", package, edges, most: 0 };
        counted.crates(OsStr::new(env!("CARGO")), root()).expect("cargo tree")
    };
    let named = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let workspace = crates("*", "normal,build,dev");
    let generator: Vec<_> = crates("omen-codegen", "normal").iter().map(|line| named(line)).collect();
    assert!(generator.iter().any(|name| name.starts_with("typify-impl ")), "{generator:?}");
    let mut without = Vec::new();
    let published = published().expect("the manifests");
    let packages = published.iter().map(|package| (package.as_str(), "normal,build"));
    for (package, edges) in packages.chain([("omen-examples", "normal,build,dev"), ("omen-python", "normal,build")]) {
        let alone = crates(package, edges);
        if !alone.iter().any(|line| line.starts_with("omen-codegen ")) {
            without.push(package);
            continue;
        }
        for name in &generator {
            let same: Vec<_> = workspace.iter().filter(|line| named(line) == *name).collect();
            assert!(
                same.len() == 1 && alone.contains(same[0]),
                "{name} has other features in {package}, so the generator is compiled twice: {same:#?} in the workspace, {:#?} alone; \
                 add the missing features to `[workspace.dependencies]` in Cargo.toml",
                alone.iter().filter(|line| named(line) == *name).collect::<Vec<_>>()
            );
        }
    }
    assert_eq!(without, ["omen-schema", "omen-order"], "all others run the generator");
}
