//! JUnit reports, parsed by the widely used `junitparser`, which `.ci/install junit-reader` installs.

use super::*;

const READ: &str = "
import sys
from junitparser import JUnitXml, Failure, Error
for suite in JUnitXml.fromfile(sys.argv[1]):
    cases = list(suite)
    counts = [sum(any(isinstance(r, kind) for r in case.result) for case in cases) for kind in (Failure, Error)]
    assert [suite.tests, suite.failures, suite.errors] == [len(cases)] + counts, suite
    for case in cases:
        for result in case.result:
            assert result.message and result.type, case
        print(suite.name, case.classname, case.name, len(case.result), sep='\\t')
";

#[test]
fn a_reader_of_junit_reads_the_report() {
    let Some(reader) = Need::JunitReader.path() else { return };
    let folder = set();
    write(folder.path(), "report.xml", check(&folder, "junit", SET).stdout.as_bytes());
    let output = std::process::Command::new("python3")
        .args(["-c", READ, "report.xml"])
        .env("PYTHONPATH", reader)
        .current_dir(&folder)
        .output()
        .expect("python3 starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let cases: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let of =
        |file: &str| cases.iter().filter(|case| case[0] == file).map(|case| case[1..].to_vec()).collect::<Vec<_>>();
    assert_eq!(of("clean.jsonl"), [["clean.log", "has no errors", "0"]]);
    assert_eq!(of("bad.jsonl"), [["bad.corr_archive_trim_3", "pkt_directive_1_try", "1"]]);
    assert_eq!(of("missing.jsonl"), [["missing.log", "is readable", "1"]]);
    assert_eq!(cases.iter().map(|case| case[0]).collect::<BTreeSet<_>>().len(), SET.len());
}
