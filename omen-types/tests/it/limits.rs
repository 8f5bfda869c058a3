//! Limits on the length of a line and the depth of nesting.

use omen_types::Code;
use omen_types::limits::{MAX_DEPTH, MAX_LINE_BYTES};

use crate::packets::{self, accepted, edited, line, refused};

/// Returns a packet whose line has this many bytes.
fn padded(line: &str, length: usize) -> String {
    let filler = "x".repeat(length - line.len() - 1);
    // Two quotes are added, and one digit is removed.
    edited(line, &[(r#""pool_size":4"#, &format!(r#""pool_size":"{filler}""#))])
}

#[test]
fn sixteen_mebibytes_and_no_more() {
    let text = line(packets::observation());
    let longest = padded(&text, MAX_LINE_BYTES);
    assert_eq!(longest.len(), MAX_LINE_BYTES);
    accepted(&longest);
    let rejected = refused(&padded(&text, MAX_LINE_BYTES + 1));
    assert_eq!(rejected.errors.len(), 1);
    assert_eq!(rejected.errors[0].code, Code::Json);
    assert_eq!(rejected.errors[0].message, "the line exceeds 16 MiB (16777216 bytes)");
}

/// Returns nested arrays and objects.
fn nest(levels: usize) -> String {
    let (open, close): (String, String) =
        (0..levels).map(|level| if level % 2 == 0 { ("[", "]") } else { ("{\"n\":", "}") }).unzip();
    let close: String = close.chars().rev().collect();
    format!("{open}0{close}")
}

/// Free-form positions: the text there, and its nesting level.
const FREE: &[(&str, &str, usize)] =
    &[("pool_size", r#""pool_size":4"#, 4), ("_meta", r#""payload":"#, 2), ("query", r#""observation_type""#, 4)];

#[test]
fn sixty_four_levels_and_no_more() {
    let max = usize::from(MAX_DEPTH);
    let text = line(packets::observation());
    for (place, from, level) in FREE {
        let with = |levels: usize| {
            let value = nest(levels);
            let to = match *place {
                "pool_size" => format!(r#""pool_size":{value}"#),
                "_meta" => format!(r#""_meta":{value},"payload":"#),
                _ => format!(r#""query_params":{{"n":{value}}},"observation_type""#),
            };
            edited(&text, &[(from, &to)])
        };
        let deepest = with(max - level + 1);
        accepted(&deepest);
        accepted(&payload_first(&deepest));
        let deeper = with(max - level + 2);
        for text in [payload_first(&deeper), deeper] {
            let rejected = refused(&text);
            assert_eq!(rejected.errors.len(), 1);
            assert_eq!(rejected.errors[0].code, Code::Json);
            assert_eq!(rejected.errors[0].message, "nested deeper than 64 levels");
            let span = rejected.errors[0].span.clone().unwrap();
            assert_eq!(
                text[..=span.start].matches(['{', '[']).count() - text[..span.start].matches(['}', ']']).count(),
                max + 1
            );
        }
    }
}

fn payload_first(text: &str) -> String {
    let place = omen_types::parse::locate(text, "/payload").unwrap();
    let rest = format!("{}{}", &text[1..place.start - r#","payload":"#.len()], &text[place.end..]);
    format!(r#"{{"payload":{},{rest}"#, &text[place])
}

#[test]
fn nesting_in_a_wrong_place_is_a_schema_error_until_it_is_too_deep() {
    let text = line(packets::observation());
    for (from, level) in [(r#""pkt_1""#, 3), (r#""LOW","irr"#, 4), (r#"{"pool_size":4}"#, 3)] {
        for levels in [1, 61, 64 - level + 1, 64 - level + 2, 100, 127, 128, 200, 10_000] {
            let value = nest(levels);
            let to = if from.ends_with("irr") { format!(r#"{value},"irr"#) } else { value };
            let rejected = refused(&edited(&text, &[(from, &to)]));
            let code = if levels + level - 1 <= 64 { Code::Schema } else { Code::Json };
            assert!(rejected.errors.iter().all(|error| error.code == code), "{levels} at {from}: {rejected}");
        }
    }
    let brackets = "[".repeat(1_000_000);
    assert_eq!(refused(&brackets).errors[0].span, Some(64..65));
}
