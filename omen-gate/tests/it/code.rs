//! The codes: one source, `gate.json`.

use omen_gate::GateCode;
use serde_json::Value;

#[test]
fn the_codes_are_those_of_the_file() {
    let file: Value = serde_json::from_str(omen_schema::file("gate.json").unwrap()).unwrap();
    let codes = file["codes"].as_array().unwrap();
    assert_eq!(codes.len(), GateCode::ALL.len());
    for (code, json) in GateCode::ALL.iter().zip(codes) {
        let texts = [
            ("code", code.as_str()),
            ("title", code.title()),
            ("statement", code.statement()),
            ("rationale", code.rationale()),
            ("help", code.help()),
            ("source", code.source()),
        ];
        for (key, text) in texts {
            assert_eq!(json[key], text, "{code} {key}");
        }
    }
    let all: Vec<_> = GateCode::ALL.iter().map(|code| code.as_str()).collect();
    let documents = "PG-0 PG-1 PG-2 PG-3 PG-4 PG-5 PG-6 PG-T G1 G2 G3 G4 A1 A2 A3 A4 R1 R2 R3 R4 R5 C1 T1 V1 O-1 O-2 O-3 O-4 O-5 O-6";
    assert_eq!(all.join(" "), documents);
}

#[test]
fn a_code_is_read_in_any_case_of_letters() {
    for code in GateCode::ALL {
        assert_eq!(code.as_str().parse(), Ok(*code));
        assert_eq!(code.as_str().to_lowercase().parse(), Ok(*code));
        assert_eq!(code.to_string(), code.as_str());
    }
}

#[test]
fn a_text_that_is_no_code_says_what_was_perhaps_meant() {
    for (text, near) in
        [("PG3", Some(GateCode::Pg3)), ("pg_t", Some(GateCode::PgT)), ("PG-7", Some(GateCode::Pg0)), ("x9", None)]
    {
        let error = text.parse::<GateCode>().unwrap_err();
        assert_eq!(error.near(), near, "{text}");
        assert!(error.to_string().starts_with(&format!("unknown code `{text}`")), "{error}");
        assert_eq!(error.to_string().contains("did you mean"), near.is_some(), "{error}");
    }
}
