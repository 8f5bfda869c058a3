//! The examples run, and their logs are accepted without a finding.

use omen::{Finding, Validator, validator::ValidatorOptions};

#[path = "../../escalation.rs"]
mod escalation;
#[path = "../../first_episode.rs"]
mod first_episode;
#[path = "../../model_driven.rs"]
mod model_driven;
#[path = "../../own_wire.rs"]
mod own_wire;
#[path = "../../payloads.rs"]
mod payloads;
#[path = "../../read_only.rs"]
mod read_only;
#[path = "../../resume.rs"]
mod resume;
#[path = "../../safe_mode.rs"]
mod safe_mode;

#[test]
fn examples_are_judged_clean() {
    let agents = [
        ("escalation", escalation::log()),
        ("first_episode", first_episode::log()),
        ("model_driven", model_driven::log()),
        ("own_wire", own_wire::log()),
        ("payloads", payloads::log()),
        ("read_only", read_only::log()),
        ("resume", resume::log()),
        ("safe_mode", safe_mode::log()),
    ];
    for (name, log) in agents {
        let log = log.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut findings: Vec<Finding> = Vec::new();
        let mut validator = Validator::new(ValidatorOptions::default());
        validator.feed(log.as_ref(), &mut findings);
        let Ok(summary) = validator.finish(&mut findings);
        assert!(findings.is_empty(), "{name}: {findings:#?}");
        assert!(summary.accepted > 0 && summary.rejected == 0, "{name}: {summary:?}");
    }
}

/// Every example is in a test.
#[test]
fn every_example_is_tested() {
    let folder = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut examples: Vec<_> = names.filter(|name| !matches!(name.as_str(), "Cargo.toml" | "tests")).collect();
    examples.sort();
    let mut tested: Vec<_> = include_str!("agents.rs")
        .lines()
        .chain(include_str!("twelve_agents.rs").lines())
        .filter_map(|line| line.strip_prefix("#[path = \"../../")?.split(['/', '"']).next())
        // With the feature `schemars`, which this package does not enable.
        .chain(
            include_str!("../../../proofs/tests/it/structured_output.rs")
                .lines()
                .filter_map(|line| line.strip_prefix("#[path = \"../../../examples/")?.strip_suffix("\"]")),
        )
        .collect();
    tested.sort_unstable();
    assert_eq!(examples, tested);
}

/// An agent that builds its packets gets an error before a packet is sent.
#[test]
fn a_packet_out_of_turn_is_not_sent() {
    let refused = own_wire::out_of_turn().unwrap();
    assert!(refused.starts_with("error[E1]"), "{refused}");
}
