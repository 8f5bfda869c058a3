//! Fingerprints are stable: a finding keeps its own when lines are inserted before it.

use super::*;

/// Returns the fingerprints of a log in a format, in the order of the findings.
fn fingerprints(format: &str, log: &str) -> Vec<String> {
    let folder = folder(&[("log.jsonl", log.as_bytes())]);
    let report: Value = serde_json::from_str(&check(&folder, format, ["log.jsonl"]).stdout).unwrap();
    let of = |value: &Value| value.as_str().unwrap().to_owned();
    if format == "sarif" {
        let results = report["runs"][0]["results"].as_array().unwrap();
        results.iter().map(|result| of(&result["partialFingerprints"]["omenFinding/v1"])).collect()
    } else {
        report.as_array().unwrap().iter().map(|issue| of(&issue["fingerprint"])).collect()
    }
}

#[test]
fn fingerprints_survive_inserted_lines() {
    let logs = format!("{}{}no JSON\n", log(BAD), log("invalid/e6-end-with-directive-open.jsonl"));
    for format in ["sarif", "gitlab"] {
        let before = fingerprints(format, &logs);
        assert_eq!(before.len(), 3);
        for inserted in ["\n\n\n", log(GOOD)] {
            assert_eq!(fingerprints(format, &format!("{inserted}{logs}")), before);
        }
        // Another mistake adds a fingerprint, and changes none.
        let after = fingerprints(format, &format!("42\n{logs}"));
        assert!(after.len() > before.len() && before.iter().all(|old| after.contains(old)));
    }
}

#[test]
fn equal_findings_have_different_fingerprints() {
    for format in ["sarif", "gitlab"] {
        let all = fingerprints(format, &"?\n".repeat(100));
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 100);
        assert_eq!(fingerprints(format, &"?\n".repeat(50)), all[..50]);
    }
}
