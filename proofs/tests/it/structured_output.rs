//! The example `structured_output` runs here, where the feature `schemars` is on: with it, the other examples would compile
//! schemars, too.

use omen::{Finding, Validator, validator::ValidatorOptions};

#[path = "../../../examples/structured_output.rs"]
mod example;

use example::{ANSWERS, run, schema};

#[test]
fn a_model_is_corrected_and_decides() {
    let mut said = Vec::new();
    let log = run(&mut said).expect("the second answer is right");
    let said = said.join("\n");
    for (place, problem) in
        [("/decision_outcome", "PROCEED"), ("/decision_summary", "non-empty"), ("/constraints_satisfied", "tier_check")]
    {
        assert!(said.lines().any(|line| line.contains(place) && line.contains(problem)), "{place}: {said}");
    }
    assert_eq!(said.lines().count(), 3, "{said}");

    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(ValidatorOptions::default());
    let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
    let Ok(summary) = validator.finish(&mut findings);
    assert!(findings.is_empty(), "{findings:#?}");
    assert_eq!(summary.rejected, 0);
    // The decision is what the model wrote.
    let payloads =
        log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["payload"].take());
    let answer: serde_json::Value = serde_json::from_str(ANSWERS[1]).expect("JSON");
    assert_eq!(payloads.filter(|payload| *payload == answer).count(), 1, "{log}");
}

/// The schema that the model gets refuses the wrong answer and accepts the right one, as the parser does.
#[test]
fn the_schema_tells_the_answers_apart() {
    let schema = jsonschema::draft202012::new(&schema().to_value()).expect("a schema");
    let valid = ANSWERS.map(|answer| schema.is_valid(&serde_json::from_str(answer).expect("JSON")));
    assert_eq!(valid, [false, true]);
}
