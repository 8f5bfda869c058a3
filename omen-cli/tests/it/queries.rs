//! Queries of `docs/queries.md`, run by DuckDB on the output of the command. `.ci/install duckdb` installs it.

use super::*;

/// Runs the SQL blocks of a document in order, and prints each result, followed by an empty line.
const RUN: &str = r"
import re, sys
import duckdb

connection = duckdb.connect()
for sql, printed in re.findall(r'```sql\n(.*?)```\n(\n```text\n)?', sys.stdin.read(), re.S):
    result = connection.execute(sql)
    if not printed:
        continue
    rows = [[column[0] for column in result.description]]
    rows += [['NULL' if value is None else str(value) for value in row] for row in result.fetchall()]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        print('  '.join(value.ljust(width) for value, width in zip(row, widths)).rstrip())
    print()
";

/// Logs whose results the document shows.
const LOGS: [&str; 9] = [
    "valid/several-tokens.jsonl",
    "valid/interleaved.jsonl",
    "valid/verify-then-write.jsonl",
    "valid/read-only.jsonl",
    "valid/defer.jsonl",
    "invalid/e4-token-used-up.jsonl",
    "invalid/e4-token-expired.jsonl",
    "invalid/e1-decision-before-belief.jsonl",
    "invalid/inv-002-subpar-act.jsonl",
];

#[test]
fn the_queries_of_the_document_give_its_results() {
    let Some(duckdb) = Need::Duckdb.path() else { return };
    let folder = folder(&[]);
    fs::create_dir(folder.path().join("logs")).unwrap();
    for path in LOGS {
        write(&folder.path().join("logs"), path.rsplit('/').next().unwrap(), log(path).as_bytes());
    }
    let findings = run(omen(["check", "logs", "--format", "json"]).current_dir(&folder));
    assert_eq!(findings.code, 1);
    write(folder.path(), "findings.jsonl", findings.stdout.as_bytes());

    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/queries.md");
    let text = fs::read_to_string(&document).unwrap();
    let mut python = Command::new("python3");
    let python = python.args(["-c", RUN]).env("PYTHONPATH", duckdb).current_dir(&folder).write_stdin(text.as_str());
    let results = run(python);
    assert_eq!((results.code, results.stderr.as_str()), (0, ""));
    let mut results = results.stdout.split_inclusive("\n\n").map(|result| result.trim_end());
    let mut parts = text.split("```text\n");
    let mut expected = parts.next().unwrap().to_owned();
    let mut count = 0;
    for part in parts {
        let (_, after) = part.split_once("```").unwrap();
        let result = results.next().unwrap();
        assert!(result.lines().count() > 1, "a query without a result shows nothing: {result}");
        expected += &format!("```text\n{result}\n```{after}");
        count += 1;
    }
    assert_eq!((count, results.next()), (4, None));
    if std::env::var_os("OMEN_BLESS").is_some() {
        fs::write(&document, &expected).unwrap();
        return;
    }
    assert_eq!(text, expected, "OMEN_BLESS=1 rewrites the document");
}

/// Every line of JSON output matches `omen schema finding`, and every member has a description.
#[test]
fn the_schema_of_findings_fits_all_findings() {
    let schema: Value = serde_json::from_str(&run(&mut omen(["schema", "finding"])).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let examples = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"));
    let input: String = examples.map(|(_, log)| *log).chain(["?\n", "{}\n"]).collect();
    let run = run(omen(["check", "--format", "json", "--all"]).write_stdin(input));
    let mut stages = std::collections::BTreeSet::new();
    for line in run.stdout.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let errors: Vec<_> = validator.iter_errors(&row).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{line}");
        stages.extend(row["stage"].as_str().map(str::to_owned));
    }
    assert_eq!(stages.len(), 5, "{stages:?}");
    let members: Vec<_> =
        schema["$defs"]["finding"]["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(members, contract::FIELDS);
    for wrong in [r#"{"file": "-"}"#, r#"{"summary": {}}"#, "{}"] {
        assert!(!validator.is_valid(&serde_json::from_str(wrong).unwrap()), "{wrong}");
    }
}
