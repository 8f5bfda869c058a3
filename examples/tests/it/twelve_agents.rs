//! Twelve kinds of agents run, write logs without a finding, and are short.

use omen::{Finding, Validator, validator::ValidatorOptions};

#[path = "../../twelve_agents/main.rs"]
mod agents;

use agents::KINDS;

/// Returns the lines that are neither blank nor comments.
fn lines_of_code(source: &str) -> impl Iterator<Item = &str> {
    source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

/// Returns the number of lines of the statement that makes the envelope.
fn envelope_lines(source: &str) -> usize {
    let mut lines = lines_of_code(source).skip_while(|line| !line.starts_with("let envelope = OpenEnvelope::"));
    let length = lines.by_ref().position(|line| line.ends_with(".seal();")).expect("the envelope is sealed") + 1;
    assert!(lines.all(|line| !line.contains("OpenEnvelope::")), "an agent has one envelope");
    length
}

#[test]
fn agents_of_twelve_kinds_are_short_and_judged_clean() {
    let now = "2026-03-01T10:00:00Z".parse().unwrap();
    assert_eq!(KINDS.len(), 12);
    println!("{:<40} {:>5} {:>8} {:>7}", "kind", "lines", "envelope", "packets");
    for kind in KINDS {
        let log = (kind.agent)(now).unwrap_or_else(|error| panic!("{}: {error}", kind.name));
        let mut findings: Vec<Finding> = Vec::new();
        let mut validator = Validator::new(ValidatorOptions::default());
        validator.feed((log.join("\n") + "\n").as_bytes(), &mut findings);
        let Ok(summary) = validator.finish(&mut findings);
        assert!(findings.is_empty(), "{}: {findings:#?}", kind.name);
        assert_eq!((summary.accepted, summary.rejected), (log.len() as u64, 0), "{}", kind.name);

        let (code, envelope) = (lines_of_code(kind.source).count(), envelope_lines(kind.source));
        println!("{:<40} {code:>5} {envelope:>8} {:>7}", kind.name, log.len());
        assert!(envelope <= 6, "{}: {envelope} lines of envelope", kind.name);
        assert!(code <= 40, "{}: {code} lines of code", kind.name);
    }
}
