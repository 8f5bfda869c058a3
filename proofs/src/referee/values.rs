//! Edge-case values: numbers, texts, timestamps, free-form values.

use fastrand::Rng;

use super::json::Json;

/// Numbers at and around every bound of the protocol, in every notation.
pub(super) const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "0.0",
    "-0.0",
    "0e5",
    "1",
    "1.0",
    "1e0",
    "10e-1",
    "0.1e1",
    "1E+0",
    "-1",
    "-1.0",
    "0.5",
    "1.5",
    "2",
    "3",
    "6",
    "6.0",
    "7",
    "8",
    "0.9999999999999999",
    "1.0000000000000002",
    "-5e-324",
    "5e-324",
    "1e-400",
    "100",
    "1e2",
    "9007199254740990",
    "9007199254740991",
    "9007199254740991.0",
    "9007199254740992",
    "9007199254740992.0",
    "9007199254740993",
    "9007199254740990.5",
    "9.007199254740991e15",
    "9007199254740991e0",
    "900719925474099.1e1",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "1e16",
    "1e300",
    "1.7976931348623157e308",
    "-1e300",
    "123456789012345678901234567890",
    "0.30000000000000004",
    "2.5",
    "4",
    "5",
];

/// Timestamps, valid and invalid; both sides must agree on which is which.
const TIMESTAMPS: &[&str] = &[
    "2026-03-01T10:00:00Z",
    "2026-03-01t10:00:00z",
    "2026-03-01T10:00:00.5Z",
    "2026-03-01T10:00:00.123456789Z",
    "2026-03-01T10:00:00.1234567890123456789012345Z",
    "2026-03-01T10:00:00+02:30",
    "2026-03-01T10:00:00-00:00",
    "2026-03-01T10:00:00+23:59",
    "2026-03-01T10:00:00-23:59",
    "2026-03-01T10:00:00+24:00",
    "2026-03-01T10:00:00+12:60",
    "2026-03-01T10:00:00+0230",
    "2026-03-01T10:00:00+02",
    "2026-03-01T10:00:00",
    "2026-03-01 10:00:00Z",
    "2026-03-01",
    "2024-02-29T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2000-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "10000-01-01T00:00:00Z",
    "-2026-01-01T00:00:00Z",
    "2026-12-31T23:59:60Z",
    "2026-12-31T23:59:60.999Z",
    "2026-12-31T22:59:60Z",
    "2026-12-31T23:58:60Z",
    "2027-01-01T01:29:60+01:30",
    "2026-12-31T15:59:60-08:00",
    "2026-12-31T23:59:60+01:00",
    "2026-12-31T23:59:61Z",
    "2026-12-31T00:29:60+00:30",
    "2026-03-01T24:00:00Z",
    "2026-03-01T10:60:00Z",
    "2026-03-01T10:00:00.Z",
    "2026-03-01T10:00:00,5Z",
    "2026-03-01T10:00:00Z\n",
    " 2026-03-01T10:00:00Z",
    "2026-03-01T10:00:00ZZ",
    "2026-03-01T10:00:00Z+00:00",
    "2026-03-01T10:00Z",
    "2026-W09-7T10:00:00Z",
    "2026-060T10:00:00Z",
    "2026-03-0\u{967}T10:00:00Z",
    "2026-03-01T10:00:00\u{2212}01:00",
    "20260301T100000Z",
    "+2026-03-01T10:00:00Z",
    "2026-3-1T10:00:00Z",
    "2026-03-01T1:00:00Z",
    "2026-03-01T10:00:00 Z",
    "2026-03-01T10:00:00.5+00:00",
];

/// Texts at the limits of patterns and lengths.
const TEXTS: &[&str] = &[
    "",
    " ",
    "\n",
    "\t",
    "\u{feff}",
    "\u{0}",
    "null",
    "1",
    "true",
    "\u{e4}",
    "\u{1f469}\u{200d}\u{1f680}",
    "pkt_",
    "pkt_a",
    "PKT_a",
    "pkt_\u{661}",
    "corr_a",
    "corr_",
    "camp_a",
    "task_a",
    "token_a",
    "token_",
    "pkt_a\n",
    "pkt_ a",
    "pkt_a.b",
    "pkt-a",
    "Integrity",
    "integrity",
    "WRITE",
    "\"",
    "\\",
    "/",
    "~0~1",
    "a\u{301}",
    "0",
    "\u{7f}",
    "\u{2028}",
];

/// Returns a text from the list, or the old one modified.
pub(super) fn text(rng: &mut Rng, old: &str) -> String {
    match rng.u8(..10) {
        0..4 => (*rng.choice(TEXTS).unwrap_or(&"")).to_owned(),
        4 => format!("{old}\n"),
        5 => format!(" {old}"),
        6 => format!(
            "{old}{}",
            rng.choice(&["-", "_", ".", "\u{e9}", "\u{661}", " ", "/", "@", "[", "`", "{", ":", "z"]).unwrap_or(&"")
        ),
        7 => typo(rng, old),
        8 => old.to_uppercase(),
        _ => old.repeat(rng.usize(2..40)),
    }
}

/// Returns the text with one letter changed, dropped, duplicated or swapped.
pub(super) fn typo(rng: &mut Rng, old: &str) -> String {
    let mut letters: Vec<char> = old.chars().collect();
    if letters.is_empty() {
        return "x".to_owned();
    }
    let at = rng.usize(..letters.len());
    match rng.u8(..5) {
        0 => drop(letters.remove(at)),
        1 => letters.insert(at, rng.alphabetic()),
        2 => letters.swap(at, (at + 1) % old.chars().count()),
        _ => {
            let new = match letters.get(at) {
                Some(letter) if rng.bool() && letter.is_ascii_alphabetic() => flip(*letter),
                _ => rng.alphabetic(),
            };
            if let Some(letter) = letters.get_mut(at) {
                *letter = new;
            }
        }
    }
    letters.into_iter().collect()
}

fn flip(letter: char) -> char {
    if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
}

/// Returns a timestamp from the list, a leap second at a random offset, or the old one with a letter changed.
pub(super) fn timestamp(rng: &mut Rng, old: &str) -> String {
    match rng.u8(..4) {
        0 => {
            let sign = if rng.bool() { '+' } else { '-' };
            let (hour, minute) = (rng.u8(..25), if rng.bool() { rng.u8(..62) } else { 59 });
            // Half of them are at the only time of a leap second, 23:59 UTC.
            let (hours, minutes) = if rng.bool() {
                let local = u16::from(hour % 24) * 60 + u16::from(minute % 60);
                let east = (local + 1) % 1440;
                let offset = if sign == '+' { east } else { (1440 - east) % 1440 };
                (offset / 60, offset % 60)
            } else {
                (rng.u16(..25), rng.u16(..61))
            };
            format!("1998-12-31T{hour:02}:{minute:02}:60{sign}{hours:02}:{minutes:02}")
        }
        1 => {
            let mut letters: Vec<char> = old.chars().collect();
            let new = *rng
                .choice(&['0', '1', '2', '3', '5', '6', '9', ':', '-', '+', 'T', 't', 'Z', 'z', '.', ' '])
                .unwrap_or(&'0');
            let at = rng.usize(..=letters.len());
            match (rng.u8(..3), letters.get_mut(at)) {
                (0, Some(_)) => drop(letters.remove(at)),
                (1, Some(letter)) => *letter = new,
                _ => letters.insert(at, new),
            }
            letters.into_iter().collect()
        }
        _ => (*rng.choice(TIMESTAMPS).unwrap_or(&"")).to_owned(),
    }
}

/// Returns a valid timestamp.
pub(super) fn good_timestamp(rng: &mut Rng) -> String {
    let (day, hour, minute) = (rng.u8(1..29), rng.u8(..24), rng.u8(..60));
    let zone = rng.choice(&["Z", "z", "+00:00", "-08:00", "+05:45", ".25Z"]).unwrap_or(&"Z");
    format!("2026-03-{day:02}T{hour:02}:{minute:02}:07{zone}")
}

/// Returns any JSON value, nested up to `levels` deep.
pub(super) fn free(rng: &mut Rng, levels: u8) -> Json {
    match rng.u8(..if levels == 0 { 5 } else { 8 }) {
        0 => Json::Null,
        1 => Json::Bool(rng.bool()),
        2 | 3 => Json::number(rng.choice(NUMBERS).unwrap_or(&"0")),
        4 => Json::text(*rng.choice(TEXTS).unwrap_or(&"")),
        5 => Json::Array((0..rng.u8(..4)).map(|_| free(rng, levels - 1)).collect()),
        _ => {
            let keys = ["a", "b", "\u{e4}", "", "_x", "header", "a/b~c", "$ref"];
            let first = rng.usize(..keys.len());
            let count = rng.usize(..4);
            let keys = keys.iter().cycle().skip(first).take(count);
            Json::Object(keys.map(|key| ((*key).to_owned(), free(rng, levels - 1))).collect())
        }
    }
}

/// Returns arrays or objects nested `levels` deep.
pub(super) fn nest(rng: &mut Rng, levels: usize) -> Json {
    (0..levels).fold(Json::Null, |inner, _| {
        if rng.bool() { Json::Array(vec![inner]) } else { Json::Object(vec![("n".to_owned(), inner)]) }
    })
}
