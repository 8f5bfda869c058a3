//! Helps that are followed to the letter, for planted mistakes in every valid example.

use std::collections::BTreeSet;

use omen_testkit::proofs::Proofs;
use omen_types::pointer::steps;
use omen_types::shape::CLAIMS;

use super::*;

/// Identity of a finding: its rule and its place.
fn identity(finding: &Finding) -> String {
    let diagnostic = &finding.diagnostic;
    format!("{} {:?} {:?} {:?}", diagnostic.code, finding.correlation_id, finding.packet_id, diagnostic.pointer)
}

/// The same without the packet: a finding of the valid log may come back under another id.
fn rule_and_place(finding: &Finding) -> (Code, Option<String>) {
    (finding.diagnostic.code, finding.diagnostic.pointer.clone())
}

/// Returns whether a place is a claim that only its author can correct.
fn is_claim(pointer: &str) -> bool {
    steps(pointer).any(|step| CLAIMS.iter().any(|(claim, _)| *claim == step))
}

/// Returns whether a help leaves a value to the author: a claim, an id that the log does not determine, or one of several values.
fn is_open(finding: &Finding, help: &str) -> bool {
    let pointer = finding.diagnostic.pointer.as_deref().unwrap_or_default();
    let is_unknown_id = help.contains("\"…\"") && (pointer.ends_with("_id") || help.contains("_id\": \"…\""));
    is_claim(pointer) || is_unknown_id || help.starts_with("write one of")
}

/// Findings of a valid log, which are all warnings.
struct ValidLog {
    path: &'static str,
    findings: BTreeSet<String>,
    rules: BTreeSet<(Code, Option<String>)>,
}

/// What became of a help.
enum Outcome {
    Fixed,
    InWords,
    Failed(String),
}

impl ValidLog {
    /// Follows the help for the first finding on a planted mistake, unless there is none.
    fn follow(&self, planted: &planted::Planted) -> Option<(Code, Outcome)> {
        let text: Vec<_> = planted.log.iter().map(ToString::to_string).collect();
        let text = text.join("\n");
        let found = findings(&text);
        let is_root =
            |finding: &&Finding| finding.follows_from.is_none() && !self.findings.contains(&identity(finding));
        let root = found.iter().find(is_root)?;
        let diagnostic = &root.diagnostic;
        let help = diagnostic.help.as_deref().unwrap_or_default();
        let fixed = remedy::applied(&text, root, help).filter(|_| !is_open(root, help));
        let Some(fixed) = fixed else { return Some((diagnostic.code, Outcome::InWords)) };
        let after = findings(&fixed.replace("\"…\"", "\"as known\""));
        let known: BTreeSet<_> = found.iter().map(identity).collect();
        let is_new = |left: &&Finding| {
            !known.contains(&identity(left))
                && !self.findings.contains(&identity(left))
                && !self.rules.contains(&rule_and_place(left))
        };
        let new: BTreeSet<_> = after.iter().filter(is_new).map(identity).collect();
        let is_there = after.iter().any(|left| identity(left) == identity(root));
        let outcome = match is_there || !new.is_empty() {
            false => Outcome::Fixed,
            true => Outcome::Failed(format!(
                "{}:{:?} {}: {diagnostic}\n    still there: {is_there}; new: {new:?}",
                self.path, root.line, planted.kind
            )),
        };
        Some((diagnostic.code, outcome))
    }
}

/// Counts of the helps of one kind of mistake, or one code.
#[derive(Default)]
struct Followed {
    fixed: usize,
    in_words: usize,
    failed: usize,
}

#[expect(clippy::print_stdout, reason = "the counts are what the test measures")]
#[test]
fn helps_that_are_followed_lead_to_no_new_finding() {
    let mut counts: BTreeMap<&str, Followed> = BTreeMap::new();
    let (mut failed, mut in_warned, mut fixed) = (Vec::new(), Vec::new(), 0);
    let mut planter = planted::Planter::new(Proofs::wanted().choose([149, 29989], [89, 9973]));
    for (path, log) in
        omen_schema::EXAMPLES.iter().filter(|(path, _)| path.starts_with("valid/") && path.ends_with(".jsonl"))
    {
        let lines = log.lines().filter(|line| !line.trim().is_empty());
        let packets: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
        let own = findings(log);
        let (findings, rules) = (own.iter().map(identity).collect(), own.iter().map(rule_and_place).collect());
        let valid = ValidLog { path, findings, rules };
        for planted in (0..packets.len()).flat_map(|at| planter.at(&packets, at)) {
            let Some((code, outcome)) = valid.follow(&planted) else { continue };
            for name in [planted.kind, code.as_str()] {
                let counts = counts.entry(name).or_default();
                match &outcome {
                    Outcome::Fixed => counts.fixed += 1,
                    Outcome::InWords => counts.in_words += 1,
                    Outcome::Failed(_) => counts.failed += 1,
                }
            }
            match outcome {
                Outcome::Fixed => fixed += 1,
                Outcome::InWords => {}
                Outcome::Failed(text) if own.is_empty() => failed.push(text),
                Outcome::Failed(text) => in_warned.push(text),
            }
        }
    }
    for (name, Followed { fixed, in_words, failed }) in &counts {
        println!("{name}: {fixed} fixed, {in_words} in words, {failed} failed");
    }
    println!("{fixed} fixed, {} failed, and {} in logs with warnings of their own", failed.len(), in_warned.len());
    assert!(fixed >= 60, "{fixed}");
    assert!(failed.is_empty(), "{} of {fixed}:\n{}", failed.len(), failed.join("\n"));
    // A packet that was moved far may leave its log in a state from which the packets that follow cannot be guessed.
    assert!(in_warned.len() <= 1 + fixed / 25, "{} of {fixed}:\n{}", in_warned.len(), in_warned.join("\n"));
}
