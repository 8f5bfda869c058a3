//! List of marker types: valid names, and no duplicates.

use omen_codegen::emit::{self, Markers};
use omen_codegen::mistake::Mistakes;

#[track_caller]
fn check(markers: &str, pointer: &str, says: &str) {
    let found = emit(markers).unwrap_err();
    let mistake = found.iter().next().unwrap();
    assert_eq!((mistake.kind, mistake.file.as_str(), mistake.pointer.as_str()), ("markers", "facts.json", pointer));
    assert!(mistake.problem.contains(says), "{mistake}");
    assert_eq!(found.iter().count(), 1, "{found}");
}

fn emit(markers: &str) -> Result<String, Mistakes> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    let text = format!(r#"{{ "description": "A trial.", {markers} }}"#);
    emit::markers(&model, &Markers::parse(&text)?).map(|source| source.to_string())
}

#[test]
fn mistakes_are_reported() {
    check(r#""marker": {}"#, "", "unknown field `marker`");
    check(r#""markers": { "Imapct": {} }"#, "/markers/Imapct", "is not an enum of the schemas");
    check(r#""markers": { "Stakes": {} }"#, "/markers/Stakes", "is not an enum of the schemas");
    check(r#""markers": { "Impact": { "module": "a", "alias": "b" } }"#, "/markers/Impact", "need no alias");
    let options = r#"{ "object": "EscalationPayload", "member": "top_options" }"#;
    check(&format!(r#""lengths": {{ "OneOrTwo": {options} }}"#), "/lengths/OneOrTwo", "no rule has a predicate");
    check(r#""proofs": { "Grants": "x::Y" }"#, "/proofs/Grants", "no rule has a predicate `Grants`");
    let length = |rest: &str| format!(r#""lengths": {{ "AtLeastOne": {{ {rest} }} }}"#);
    let at = "/lengths/AtLeastOne";
    check(&length(r#""object": "EscalationPayload", "member": "gaps""#), at, "has no array `gaps`");
    check(&length(r#""object": "EscalationPayload", "member": "evidence_gaps""#), at, "use `at_most`");
    check(&length(r#""object": "EscalationPayload", "member": "evidence_gaps", "at_most": 0"#), at, "has at least 1");
}

#[test]
fn a_name_that_is_taken_is_refused() {
    // Both enums have the values `LOW` and `HIGH`.
    let found = emit(r#""markers": { "Impact": {}, "StakesLevel": {} }"#).unwrap_err();
    assert!(found.to_string().contains("the name `Low` is also used by `Impact`"), "{found}");
    check(
        r#""markers": { "Impact": { "module": "axis" }, "Uncertainty": { "module": "axis" } }"#,
        "/markers/Uncertainty",
        "the name `axis` is also used by `Impact`",
    );
    let found = emit(r#""markers": { "DecisionOutcome": { "suffix": "Fact" }, "QualityTier": { "suffix": "" } }"#);
    assert!(found.is_ok(), "different enums go side by side");
}

#[test]
fn the_bounds_of_a_list_come_from_the_schema() {
    let made =
        emit(r#""lengths": { "TwoOrThree": { "object": "EscalationPayload", "member": "top_options" } }"#).unwrap();
    let lengths: Vec<_> =
        (0..9).filter(|n| made.contains(&format!("impl TwoOrThree for [(); {n}usize] {{}}"))).collect();
    assert_eq!(lengths, [2, 3]);
}
