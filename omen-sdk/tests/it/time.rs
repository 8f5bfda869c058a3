//! A wrong time is one root cause (D83): a finding at its `created_at`, from which the consequences of the wrong clock follow.

use omen::{Code, Finding, Severity, Validator, ValidatorOptions};
use serde_json::Value;

const LOGS: [&str; 5] =
    ["verify-then-write", "read-only", "loop-repeated", "task-retried-with-new-id", "execute-then-new-cycle"];
const DAY: i64 = 86_400;

/// Returns the packets of an example, with the one at an index sent later by a number of seconds.
fn shifted(name: &str, at: usize, seconds: i64) -> Vec<Value> {
    let log = omen_schema::example(&format!("valid/{name}.jsonl")).unwrap();
    let mut packets: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let time = &mut packets[at]["header"]["created_at"];
    let instant: omen::Instant = time.as_str().unwrap().parse().unwrap();
    *time = omen::Instant::from_unix(instant.unix_seconds() + seconds, 0).to_string().into();
    packets
}

fn found(packets: &[Value], options: ValidatorOptions) -> Vec<Finding> {
    let log: String = packets.iter().map(|packet| format!("{packet}\n")).collect();
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(options);
    let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
    let Ok(summary) = validator.finish(&mut findings);
    assert_eq!((summary.errors + summary.warnings) as usize, findings.len());
    findings
}

fn is_time_of(finding: &Finding, packet: &Value) -> bool {
    finding.diagnostic.code == Code::Time
        && finding.diagnostic.pointer.as_deref() == Some("/header/created_at")
        && finding.packet_id.as_deref() == packet["header"]["packet_id"].as_str()
}

#[test]
fn one_wrong_time_is_one_root_cause() {
    let (mut consequences, mut refused) = (0, 0);
    for name in LOGS {
        let count = shifted(name, 0, 0).len();
        for at in 0..count {
            for seconds in [365 * DAY, 3 * DAY, -3 * DAY, -365 * DAY] {
                let packets = shifted(name, at, seconds);
                let findings = found(&packets, ValidatorOptions::default());
                let context = format!("{name}, packet {at}, {seconds} s: {findings:#?}");
                let (roots, others): (Vec<_>, Vec<_>) = findings.iter().partition(|one| one.follows_from.is_none());
                let own_line = |one: &&&Finding| one.line == Some(at as u64 + 1);
                if roots.iter().filter(own_line).any(|one| one.diagnostic.severity == Severity::Error) {
                    // The packet itself is refused because of its time, and a refused packet does not move the clock (D1).
                    assert!(seconds > 0, "{context}");
                    refused += 1;
                    continue;
                }
                let is_last = at + 1 == count;
                let is_alone = seconds > 0 && is_last || seconds < 0 && at == 0;
                let time = roots.iter().filter(|one| is_time_of(one, &packets[at])).count();
                assert_eq!(time, usize::from(!is_alone), "{context}");
                if !is_last {
                    assert!(roots.iter().all(|one| one.diagnostic.severity == Severity::Warning), "{context}");
                }
                // If the first packet is ahead, the second one is reported as well: before the third, either may be wrong.
                let elsewhere = roots.iter().filter(|one| one.line.is_some() && !own_line(one)).count();
                assert_eq!(elsewhere, usize::from(seconds > 0 && at == 0), "{context}");
                for cause in others.iter().filter_map(|one| one.follows_from.as_ref()) {
                    assert_eq!(cause.line, at as u64 + 1, "{context}");
                }
                consequences += others.len();
            }
        }
    }
    assert!(consequences > 300 && refused > 0, "{consequences} consequences, {refused} refused");
}

/// The packet that reveals a wrong time may be rejected because of it, and may be the last one. A packet that is sent again
/// reveals nothing.
#[test]
fn a_rejected_packet_shows_a_wrong_time_and_one_that_is_sent_again_does_not() {
    // The belief that is ahead sets the clock so far that the decision after it comes when the budget is spent.
    let packets = shifted("verify-then-write", 9, 3 * DAY);
    let findings = found(&packets[..11], ValidatorOptions::default());
    let time: Vec<_> = findings.iter().filter(|one| is_time_of(one, &packets[9])).collect();
    assert_eq!(time.len(), 1, "{findings:#?}");
    assert!(
        findings.iter().any(|one| one.follows_from.as_ref().is_some_and(|cause| cause.line == 10)),
        "{findings:#?}"
    );

    let again = [&packets[..10], &packets[2..3]].concat();
    let findings = found(&again, ValidatorOptions::default());
    assert!(findings.iter().any(|one| one.diagnostic.code == Code::Id), "{findings:#?}");
    assert!(findings.iter().all(|one| one.diagnostic.code != Code::Time), "{findings:#?}");
}

/// A level for TIME decides whether the finding is reported, and so whether anything follows from it.
#[test]
fn levels_hold_for_the_root_cause() {
    let packets = shifted("verify-then-write", 9, 365 * DAY);
    let of = |level: Option<omen::validator::Level>| {
        let mut options = ValidatorOptions::default();
        level.into_iter().for_each(|level| options.levels.set(Code::Time, level).unwrap());
        let findings = found(&packets, options);
        let roots = findings.iter().filter(|one| one.follows_from.is_none());
        let time: Vec<_> = roots.filter(|one| one.diagnostic.code == Code::Time).collect();
        assert!(time.iter().all(|one| is_time_of(one, &packets[9])), "{findings:#?}");
        time.iter().map(|one| one.diagnostic.severity).collect::<Vec<_>>()
    };
    use omen::validator::Level;
    assert_eq!(of(None), [Severity::Warning]);
    assert_eq!(of(Some(Level::Deny)), [Severity::Error]);
    assert_eq!(of(Some(Level::Allow)), []);
}
