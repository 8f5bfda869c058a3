//! Somebody who is new waits only for the crates that the library needs.

use std::ffi::OsStr;
use std::path::Path;

use xtask::figures::{COMPILED, Compiled, compiled};

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

#[test]
fn the_generator_is_compiled_once_for_its_tests_and_for_builds() {
    let crates = |package: &str, edges: &str| {
        let counted = Compiled { name: "", package, edges, most: 0 };
        counted.crates(OsStr::new(env!("CARGO")), root()).expect("cargo tree")
    };
    let workspace = crates("*", "normal,build,dev");
    let generator = crates("omen-codegen", "normal");
    assert!(generator.iter().any(|line| line.starts_with("typify-impl ")), "{generator:?}");
    for line in generator {
        let named: Vec<_> = line.split(' ').take(2).collect();
        let same: Vec<_> = workspace.iter().filter(|line| line.split(' ').take(2).eq(named.iter().copied())).collect();
        assert_eq!(
            same.len(),
            1,
            "add the missing features to the development dependencies of omen-codegen: {same:#?}"
        );
    }
}
