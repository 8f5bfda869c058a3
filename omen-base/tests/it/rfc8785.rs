//! Examples of RFC 8785 (A4).

use omen_base::{NotExact, canonical};
use serde_json::{Value, json};

/// Appendix B. Numbers beyond ±(2^53−1) are refused, so their lines only say that (D49).
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
        match canonical(&value) {
            Ok(text) => assert_eq!(String::from_utf8(text).unwrap(), expect, "{bits:x}"),
            Err(error) => {
                assert_eq!((expect, error), ("", NotExact::Number { at: String::new(), number: value.to_string() }))
            }
        }
    }
}

/// Parsing the text gives the same value.
#[test]
fn what_is_written_reads_as_the_same_value() {
    let value = json!({ "z": [1.5, -0.25, 1e-7, 123456789], "a": { "\u{7f}": "\u{1}\u{2028}", "": [] }, "😀": {} });
    let text = canonical(&value).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), value);
    assert_eq!(canonical(&serde_json::from_slice(&text).unwrap()).unwrap(), text);
}
