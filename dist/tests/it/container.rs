//! `deploy/Dockerfile` builds what exists, with the compiler of the workspace, and runs it as a user without rights.

use std::collections::BTreeMap;
use std::fs;

use super::root;

/// A stage of the file: the image that it begins with, and its instructions with their arguments.
struct Stage {
    from: String,
    instructions: Vec<(String, String)>,
}

impl Stage {
    fn argument(&self, instruction: &str) -> Option<&str> {
        let found = self.instructions.iter().find(|(name, _)| name == instruction);
        found.map(|(_, argument)| argument.as_str())
    }
}

/// The stages by name; the last one has none.
fn stages() -> BTreeMap<String, Stage> {
    let text = fs::read_to_string(root().join("deploy/Dockerfile")).unwrap();
    let (mut stages, mut last) = (BTreeMap::<String, Stage>::new(), String::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (instruction, argument) = line.split_once(' ').expect("an instruction");
        if instruction == "FROM" {
            let (from, name) = argument.split_once(" AS ").unwrap_or((argument, ""));
            last = name.to_owned();
            let stage = Stage { from: from.to_owned(), instructions: Vec::new() };
            assert!(stages.insert(last.clone(), stage).is_none(), "two stages `{last}`");
        } else {
            let known = ["COPY", "ENTRYPOINT", "RUN", "USER", "WORKDIR"];
            assert!(known.contains(&instruction), "{line}");
            let stage = stages.get_mut(&last).expect("a stage");
            stage.instructions.push((instruction.to_owned(), argument.to_owned()));
        }
    }
    stages
}

/// The words after an option in a command.
fn after<'c>(command: &'c str, option: &str) -> Option<&'c str> {
    let mut words = command.split(' ').skip_while(|word| *word != option);
    words.nth(1)
}

#[test]
fn each_image_has_the_command_that_was_built_for_it() {
    let stages = stages();
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let command = fs::read_to_string(root().join("omen-cli/Cargo.toml")).unwrap();
    for (name, entrypoint) in [("check", r#"["omen", "check"]"#), ("", r#"["omen"]"#)] {
        let image = &stages[name];
        assert_eq!(image.argument("ENTRYPOINT"), Some(entrypoint), "{name}");
        let copy = image.argument("COPY").expect("a binary");
        let [from, source, "/usr/local/bin/omen"] = copy.split(' ').collect::<Vec<_>>()[..] else { panic!("{copy}") };
        let build = &stages[from.strip_prefix("--from=").expect("a stage")];
        let run = build.argument("RUN").expect("a build");
        assert!(run.starts_with("cargo build --locked ") && after(run, "--package") == Some("omen-cli"), "{run}");
        let profile = if run.contains("--release") { "release" } else { after(run, "--profile").expect("a profile") };
        assert!(workspace.contains(&format!("\n[profile.{profile}]\n")), "{profile}");
        assert_eq!(source, format!("/src/target/{profile}/omen"));
        if let Some(feature) = after(run, "--features") {
            assert!(command.contains(&format!("\n{feature} = [")), "{feature}");
        }
        // The sources are in the folder in which cargo runs.
        let sources = &stages[&build.from];
        assert_eq!((sources.argument("WORKDIR"), sources.argument("COPY")), (Some("/src"), Some(". .")));
        let version = workspace.lines().find_map(|line| line.strip_prefix("rust-version = \"")).unwrap();
        assert_eq!(sources.from, format!("rust:{}-bookworm", version.trim_end_matches('"')));
    }
}

#[test]
fn no_image_runs_as_root() {
    let stages = stages();
    assert_eq!(stages[""].argument("USER"), Some("65534:65534"));
    // The user `nonroot` of this image.
    assert_eq!(stages["check"].from, "gcr.io/distroless/cc-debian12:nonroot");
    assert_eq!(stages["check"].argument("USER"), None);
    // Both are of Debian 12, as the image that builds: with another one, glibc could be too old.
    assert_eq!(stages[""].from, "debian:bookworm-slim");
}
