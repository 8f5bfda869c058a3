//! The example agents run, and what they write the command judges clean.

use assert_cmd::Command;

#[path = "../../examples/built_payloads.rs"]
mod built_payloads;
#[path = "../../examples/escalation.rs"]
mod escalation;
#[path = "../../examples/first_episode.rs"]
mod first_episode;
#[path = "../../examples/generated_payloads.rs"]
mod generated_payloads;
#[path = "../../examples/model_driven.rs"]
mod model_driven;
#[path = "../../examples/own_wire.rs"]
mod own_wire;
#[path = "../../examples/read_only.rs"]
mod read_only;
#[path = "../../examples/resume.rs"]
mod resume;
#[path = "../../examples/safe_mode.rs"]
mod safe_mode;

#[test]
fn examples_are_judged_clean_by_the_command() {
    let agents = [
        ("built_payloads", built_payloads::log()),
        ("escalation", escalation::log()),
        ("first_episode", first_episode::log()),
        ("generated_payloads", generated_payloads::log()),
        ("model_driven", model_driven::log()),
        ("own_wire", own_wire::log()),
        ("read_only", read_only::log()),
        ("resume", resume::log()),
        ("safe_mode", safe_mode::log()),
    ];
    let examples = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap().count();
    assert_eq!(agents.len() + 2, examples, "each example is here, but for those of `governed` and `twelve_agents`");
    for (name, log) in agents {
        let log = log.unwrap_or_else(|error| panic!("{name}: {error}"));
        let output =
            Command::cargo_bin("omen").unwrap().args(["check", "--format", "json", "-"]).write_stdin(log).output();
        let output = output.unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{name}: {stdout}");
        assert!(stdout.contains(r#""errors":0,"warnings":0"#), "{name}: {stdout}");
    }
}

/// The agent that makes its packets by builder learns of a mistake before the packet is on its wire.
#[test]
fn a_packet_out_of_turn_is_not_sent() {
    let refused = own_wire::out_of_turn().unwrap();
    assert!(refused.starts_with("error[E1]"), "{refused}");
}
