//! The same packet in other notations of JSON: white space, escapes, numbers.

use omen_types::Packet;

use crate::packets::{self, accepted, line, refused};

/// Splits a JSON text into its strings, and the pieces between them.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find('"') {
        let inside = &rest[begin + 1..];
        let mut escaped = false;
        let end = inside.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = begin + 1 + end.unwrap() + 1;
        parts.extend([&rest[..begin], &rest[begin..end]]);
        rest = &rest[end..];
    }
    parts.push(rest);
    parts
}

/// Inserts `space` before and after each punctuation mark outside of strings that `at` accepts, counted from 0.
fn spaced(text: &str, space: &str, mut at: impl FnMut(usize) -> bool) -> String {
    let mut all = String::new();
    let mut count = 0;
    for part in parts(text) {
        if part.starts_with('"') {
            all.push_str(part);
            continue;
        }
        for c in part.chars() {
            if matches!(c, '{' | '}' | '[' | ']' | ':' | ',') {
                let here = at(count);
                count += 1;
                let space = if here { space } else { "" };
                all.extend([space, &c.to_string(), space]);
            } else {
                all.push(c);
            }
        }
    }
    all
}

#[test]
fn white_space_may_stand_around_every_mark() {
    for packet in packets::all() {
        let line = line(packet.clone());
        for space in [" ", "\t", "\r\n", " \n\t\r "] {
            assert_eq!(accepted(&spaced(&line, space, |_| true)), packet);
        }
        // At a single position, where the text around it is as predicted.
        let python = spaced_as_python_does(&line);
        assert_eq!(accepted(&python), packet);
        let marks = line.matches(['{', '}', '[', ']', ':', ',']).count();
        for place in 0..marks {
            assert_eq!(accepted(&spaced(&line, " ", |at| at == place)), packet, "at {place}");
            assert_eq!(accepted(&spaced(&python, "\t", |at| at == place)), packet, "at {place}");
        }
    }
}

/// Inserts a space after each colon and comma, as Python's `json.dumps` does by default.
fn spaced_as_python_does(line: &str) -> String {
    let part = |part: &str| match part.starts_with('"') {
        true => part.to_owned(),
        false => part.replace(':', ": ").replace(',', ", "),
    };
    parts(line).into_iter().map(part).collect()
}

#[test]
fn no_other_white_space_is_json() {
    let text = line(packets::observation());
    for space in ["\u{b}", "\u{c}", "\u{a0}", "\u{feff}", "\u{2028}", "\0"] {
        for place in [0, 1, 2, 9, 30] {
            refused(&spaced(&text, space, |at| at == place));
        }
    }
}

/// Escapes the letters in strings that `escape` accepts, counted from 0.
fn escaped(text: &str, mut escape: impl FnMut(usize) -> bool) -> String {
    let mut count = 0;
    let mut string = |part: &str| {
        let mut all = String::new();
        let mut after_backslash = false;
        for c in part.chars() {
            if c.is_ascii_alphanumeric() && !after_backslash {
                let here = escape(count);
                count += 1;
                if here {
                    all.push_str(&format!("\\u{:04x}", u32::from(c)));
                    continue;
                }
            }
            after_backslash = c == '\\' && !after_backslash;
            all.push(c);
        }
        all
    };
    parts(text).into_iter().map(|part| if part.starts_with('"') { string(part) } else { part.to_owned() }).collect()
}

#[test]
fn every_letter_of_every_string_may_be_an_escape() {
    for packet in packets::all() {
        let line = line(packet.clone());
        assert_eq!(accepted(&escaped(&line, |_| true)), packet);
        for every in [2, 3, 7, 31] {
            for first in 0..every.min(5) {
                assert_eq!(accepted(&escaped(&line, |at| at % every == first)), packet, "{first} of {every}");
            }
        }
    }
}

#[test]
fn an_escape_stands_for_one_character() {
    let text = line(packets::observation());
    let with = |string: &str| text.replacen("\"pool_size\"", &format!("\"{string}\""), 1);
    for string in
        [r"\ud83d\ude00", r"\uD83D\uDE00", r"\/\b\f\n\r\t\\\u0000", r"\uffff", r"\ud7ff\ue000", "\u{7f}\u{ffff}"]
    {
        accepted(&with(string));
    }
    for string in [
        r"\ud83d",
        r"\ude00",
        r"\ud83d\ud83d",
        r"\ud83d\n",
        r"\ud83dx",
        r"\u12",
        r"\u12g4",
        r"\x41",
        r"\'",
        r"\u+123",
        "\t",
        "\u{1f}",
    ] {
        refused(&with(string));
    }
}

#[test]
fn members_are_the_same_by_any_spelling() {
    for packet in packets::all() {
        let line = line(packet);
        let twice = line.replacen("\"packet_id\":", "\"packet\\u005fid\":\"pkt_x\",\"packet_id\":", 1);
        refused(&twice);
    }
    let text = line(packets::observation());
    refused(&text.replacen("\"pool_size\":", "\"pool\\u005fsize\":1,\"pool_size\":", 1));
}

#[test]
fn numbers_may_be_written_in_any_form() {
    let packet = Packet::from(packets::observation());
    let text = line(packet.clone());
    let budget = packet.mcp().budgets.token_budget.get().to_string();
    let with =
        |number: &str| text.replacen(&format!("\"token_budget\":{budget}"), &format!("\"token_budget\":{number}"), 1);
    for same in
        [format!("{budget}.0"), format!("{budget}e0"), format!("{budget}0E-1"), format!("0.{budget}e{}", budget.len())]
    {
        assert_eq!(accepted(&with(&same)), packet, "{same}");
    }
    for zero in ["0", "-0", "0.0", "0e400", "-0.0e-400", "1e-400"] {
        assert_eq!(accepted(&with(zero)).mcp().budgets.token_budget.get(), 0, "{zero}");
    }
    for number in [
        "1.5",
        "-1",
        "01",
        "00",
        "+1",
        ".5",
        "1.",
        "1e",
        "1e+",
        "0x1",
        "1e400",
        "1_0",
        "NaN",
        "",
        "1 2",
        "9007199254740993",
        "1e30",
    ] {
        refused(&with(number));
    }
    // A free-form number is kept as the nearest double.
    let free = |number: &str| text.replacen("\"pool_size\":4", &format!("\"pool_size\":{number}"), 1);
    for number in [
        "123456789012345678",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "0.1",
        "1e308",
        "4.9e-324",
        "123456.789012345678901234567890",
    ] {
        let kept = serde_json::to_value(accepted(&free(number))).unwrap();
        assert_eq!(kept["payload"]["data"]["pool_size"], serde_json::from_str::<serde_json::Value>(number).unwrap());
    }
    for number in ["1e309", "-1e309", "01", "-", "-01", "1.e1", "1e1.5", "--1"] {
        refused(&free(number));
    }
    refused(&free(&"9".repeat(310)));
    accepted(&free(&"9".repeat(300)));
}
