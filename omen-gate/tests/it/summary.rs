//! PG-5: summaries with verbatim evidence.

use omen_gate::output::{Outputs, TypedAnswer};
use omen_gate::summary::{Bullet, Section, Summary, ground};
use omen_gate::{Blocked, GateCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::output::{answer, catalog, id, listed};

#[derive(Debug, Deserialize, JsonSchema)]
struct Weather {
    #[expect(dead_code, reason = "the text counts")]
    city: String,
    #[expect(dead_code, reason = "the text counts")]
    days: Vec<Value>,
}

fn typed() -> TypedAnswer<Weather> {
    let mut outputs = Outputs::default();
    outputs.register::<Weather>(id()).unwrap();
    let content = json!({"days": [{"high": 21.50, "sky": "partly \"cloudy\""}, {"high": 1e2}], "city": "Zürich"});
    outputs.type_output(listed(&catalog(None)), answer(content)).unwrap()
}

fn summary(sections: &[&[&str]]) -> Summary {
    let bullet = |evidence: &&str| Bullet { text: "It is so.".to_owned(), evidence: (*evidence).to_owned() };
    let section =
        |bullets: &&[&str]| Section { heading: "Weather".to_owned(), bullets: bullets.iter().map(bullet).collect() };
    Summary { sections: sections.iter().map(section).collect() }
}

#[track_caller]
fn refused(sections: &[&[&str]], faults: &str) -> Blocked {
    let blocked = ground(&typed(), summary(sections)).unwrap_err();
    assert_eq!(blocked.code, GateCode::Pg5);
    assert_eq!(blocked.message, format!("the summary of `s/t` is not grounded: {faults}"));
    blocked
}

#[test]
fn evidence_stands_in_the_canonical_text() {
    assert_eq!(typed().text(), r#"{"city":"Zürich","days":[{"high":21.5,"sky":"partly \"cloudy\""},{"high":100}]}"#);
    let good = summary(&[&["Zürich", r#""high":21.5"#], &[r#"partly \"cloudy\""#], &["100"]]);
    let grounded = ground(&typed(), good.clone()).unwrap();
    assert_eq!(grounded.summary(), &good);
    assert_eq!(grounded.into_summary(), good);
}

#[test]
fn one_bullet_without_evidence_blocks_the_whole() {
    refused(&[&["Zürich"], &["100", "sunny"]], "bullet 2 of section 2 has evidence that is not in the answer: `sunny`");
    // Verbatim: case, the spelling of numbers and the encoding of letters all count.
    for near in ["zürich", "Zu\u{308}rich", "21.50", "1e2", "Zürich ", r#"partly "cloudy""#, "\"city\": \"Zürich\""]
    {
        refused(&[&[near]], &format!("bullet 1 of section 1 has evidence that is not in the answer: `{near}`"));
    }
}

#[test]
fn every_fault_is_reported_up_to_a_bound() {
    refused(
        &[&["Bern", "Zürich"], &[], &["Basel"]],
        "bullet 1 of section 1 has evidence that is not in the answer: `Bern`; bullet 1 of \
         section 3 has evidence that is not in the answer: `Basel`",
    );
    let many = vec!["x".repeat(5_000); 100];
    let bullets: Vec<&str> = many.iter().map(String::as_str).collect();
    let blocked = ground(&typed(), summary(&[&bullets])).unwrap_err();
    assert!(blocked.message.ends_with("; and 92 more") && blocked.message.len() < 6_000, "{}", blocked.message.len());
}

#[test]
fn evidence_says_something() {
    let told = |shown: &str| format!("bullet 1 of section 1 has evidence without letters or digits: `{shown}`");
    for blank in ["", " ", "{", "\":\"", "},{"] {
        refused(&[&[blank]], &told(blank));
    }
    // Invisible characters are shown as blanks.
    refused(&[&["\u{200b}"]], &told(" "));
    refused(&[], "it has no sections");
}

/// A section may be empty, as one on risks where there are none.
#[test]
fn a_section_without_bullets_claims_nothing() {
    for sections in [&[&["Zürich"][..], &[]][..], &[&[], &["100"]], &[&[]], &[&[], &[]]] {
        let empty = summary(sections);
        assert_eq!(ground(&typed(), empty.clone()).unwrap().into_summary(), empty);
    }
}

#[test]
fn a_claim_says_something() {
    for blank in ["", " ", "\n\t", "\u{a0}\u{3000}", "\u{200b}\u{feff}", "...", "–"] {
        let mut claims = summary(&[&["Zürich"], &["100", "21.5"]]);
        claims.sections[1].bullets[1].text = blank.to_owned();
        let blocked = ground(&typed(), claims).unwrap_err();
        let expect = "the summary of `s/t` is not grounded: bullet 2 of section 2 has text without letters or digits";
        assert_eq!((blocked.code, blocked.message.as_str()), (GateCode::Pg5, expect), "{blank:?}");
    }
    // One bullet may have both faults.
    let mut claims = summary(&[&["Bern"]]);
    claims.sections[0].bullets[0].text.clear();
    let message = ground(&typed(), claims).unwrap_err().message;
    assert!(
        message.ends_with("letters or digits; bullet 1 of section 1 has evidence that is not in the answer: `Bern`"),
        "{message}"
    );
}

#[test]
fn a_summary_has_its_members_and_no_other() {
    let read = |json: Value| serde_json::from_value::<Summary>(json);
    let bullet = json!({"text": "a", "evidence": "b"});
    read(json!({"sections": [{"heading": "h", "bullets": [bullet]}]})).unwrap();
    read(json!({"sections": [{"heading": "h", "bullets": [bullet]}], "note": "x"})).unwrap_err();
    read(json!({"sections": [{"heading": "h", "bullets": [bullet], "text": "x"}]})).unwrap_err();
    read(json!({"sections": [{"heading": "h", "bullets": [{"text": "a", "evidence": "b", "sure": true}]}]}))
        .unwrap_err();
    read(json!({"sections": [{"heading": "h", "bullets": [{"text": "a"}]}]})).unwrap_err();
}
