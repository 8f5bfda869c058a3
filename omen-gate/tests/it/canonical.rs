//! RFC 8785, by its own examples (A4).

use omen_gate::canonical::{MAX_DEPTH, MAX_INTEGER, NotCanonical, to_vec};
use serde_json::{Value, json};

#[track_caller]
fn check(value: &Value, expect: &str) {
    assert_eq!(String::from_utf8(to_vec(value).unwrap()).unwrap(), expect);
}

/// Section 3.2.2, with a number that is exact in place of `1E30`.
#[test]
fn primitives_are_written_as_ecmascript_does() {
    let value: Value = serde_json::from_str(
        r#"{
          "numbers": [333333333.33333329, 1E3, 4.50, 2e-3, 0.000000000000000000000000001],
          "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
          "literals": [null, true, false]
        }"#,
    )
    .unwrap();
    check(
        &value,
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1000,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#,
    );
}

/// Section 3.2.3: by UTF-16 code units, where a smiley comes before a Hebrew letter.
#[test]
fn members_are_sorted_by_utf_16() {
    let value: Value = serde_json::from_str(
        r#"{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
            "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"}"#,
    )
    .unwrap();
    let text = String::from_utf8(to_vec(&value).unwrap()).unwrap();
    let order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"].map(|name| text.find(name).unwrap());
    assert!(order.is_sorted(), "{text}");
}

/// Appendix B. What lies beyond ±(2^53−1) is refused (D49), so its line only says that.
#[test]
fn numbers_are_those_of_appendix_b() {
    for (bits, expect) in [
        (0x0000000000000000, "0"),
        (0x8000000000000000, "0"),
        (0x0000000000000001, "5e-324"),
        (0x8000000000000001, "-5e-324"),
        (0x7fefffffffffffff, ""),
        (0xffefffffffffffff, ""),
        (0x4340000000000000, ""),
        (0xc340000000000000, ""),
        (0x4430000000000000, ""),
        (0x44b52d02c7e14af6, ""),
        (0x444b1ae4d6e2ef50, ""),
        (0x433fffffffffffff, "9007199254740991"),
        (0xc33fffffffffffff, "-9007199254740991"),
        (0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"),
        (0x3eb0c6f7a0b5ed8d, "0.000001"),
        (0x41b3de4355555553, "333333333.3333332"),
        (0x41b3de4355555554, "333333333.33333325"),
        (0x41b3de4355555555, "333333333.3333333"),
        (0x41b3de4355555556, "333333333.3333334"),
        (0x41b3de4355555557, "333333333.33333343"),
        (0xbecbf647612f3696, "-0.0000033333333333333333"),
        (0x43143ff3c1cb0959, "1424953923781206.2"),
    ] {
        let value = json!(f64::from_bits(bits));
        match to_vec(&value) {
            Ok(text) => assert_eq!(String::from_utf8(text).unwrap(), expect, "{bits:x}"),
            Err(error) => assert_eq!((expect, error), ("", NotCanonical::Number(value.as_number().unwrap().clone()))),
        }
    }
}

#[test]
fn integers_are_exact_or_refused_at_any_depth() {
    check(&json!([MAX_INTEGER, -(MAX_INTEGER as i64)]), "[9007199254740991,-9007199254740991]");
    for number in
        [json!(MAX_INTEGER + 1), json!(-(MAX_INTEGER as i64) - 1), json!(u64::MAX), json!(i64::MIN), json!(1e16)]
    {
        let expect = NotCanonical::Number(number.as_number().unwrap().clone());
        assert_eq!(to_vec(&number), Err(expect.clone()));
        assert_eq!(to_vec(&json!({ "a": [{ "b": [number] }] })), Err(expect));
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |levels: usize| (0..levels).fold(Value::Null, |value, _| json!([value]));
    assert!(to_vec(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(to_vec(&nested(MAX_DEPTH + 1)), Err(NotCanonical::Depth));
}

/// The text says the value again.
#[test]
fn what_is_written_reads_as_the_same_value() {
    let value = json!({ "z": [1.5, -0.25, 1e-7, 123456789], "a": { "\u{7f}": "\u{1}\u{2028}", "": [] }, "😀": {} });
    let text = to_vec(&value).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), value);
    assert_eq!(to_vec(&serde_json::from_slice(&text).unwrap()).unwrap(), text);
}
