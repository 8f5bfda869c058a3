//! Canonical JSON, against the examples of RFC 8785.

use omen_base::{MAX_DEPTH, NotExact, canonical};
use serde_json::{Value, json};

#[track_caller]
fn check(text: &str, expect: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    let bytes = canonical(&value).unwrap();
    assert_eq!(String::from_utf8(bytes.clone()).unwrap(), expect);
    // A verifier relies on this: parsing canonical text and encoding it again gives the same bytes.
    assert_eq!(canonical(&serde_json::from_slice(&bytes).unwrap()).unwrap(), bytes);
}

#[track_caller]
fn refused(value: &Value, at: &str) {
    match canonical(value) {
        Err(NotExact::Number { at: got, .. }) => assert_eq!(got, at),
        other => panic!("{value} gave {other:?}"),
    }
}

#[test]
fn the_example_of_the_rfc() {
    // Section 3.2.2, without its numbers 333333333.33333329, which is covered elsewhere, and 1E30, which is not exact.
    check(
        r#"{"numbers": [333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]}"#,
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,4.5,0.002,1e-27],\
         \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}",
    );
}

#[test]
fn members_are_sorted_by_utf_16() {
    // Section 3.2.3: the emoji sorts before U+FB33, as its first surrogate does.
    check(
        r#"{"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7}"#,
        "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}",
    );
}

#[test]
fn numbers_of_one_value_have_one_text() {
    check("[1, 1.0, 10e-1, -0.0, 0]", "[1,1,1,0,0]");
    check(
        "[9007199254740991, -9007199254740991, 9007199254740991.0]",
        "[9007199254740991,-9007199254740991,9007199254740991]",
    );
}

#[test]
fn what_is_not_exact_is_refused_wherever_it_stands() {
    refused(&json!(9_007_199_254_740_992_u64), "");
    refused(&json!({"a": [0, {"b/c": -9_007_199_254_740_992_i64}]}), "/a/1/b~1c");
    refused(&json!([u64::MAX]), "/0");
    refused(&json!([i64::MIN]), "/0");
    // Their canonical text would be an integer beyond the limit, which could not be read back.
    refused(&json!([1e16]), "/0");
    refused(&json!({"x": -1e300}), "/x");
}

#[test]
fn depth_is_bounded() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let text = String::from_utf8(canonical(&nested(MAX_DEPTH)).unwrap()).unwrap();
    check(&text, &text); // It can be read back.
    assert_eq!(canonical(&nested(MAX_DEPTH + 1)), Err(NotExact::Deep));
}
