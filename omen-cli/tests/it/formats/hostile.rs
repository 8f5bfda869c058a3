//! Texts of a log that are code to the reader of a report.

use super::*;

/// Lines for the snapshots: an id with the syntax of every format, a field that looks like a link, control characters, invalid
/// UTF-8.
pub(super) const LOG: &[u8] = b"{\"header\":{\"packet_id\":\"a\\n::error::b]]>\\\"<&\\u202e\",\"correlation_id\":\"::warning file=x,line=1::\"}}\n\
{\"[here](https://example.org)\":\"{0}\",\"\\u001b[31m\\u0000\":\"%0A\"}\n\
\x1b]0;title\x07\n\
{\"\x9b\xff\xed\xa0\x80\":1}\n";

const PIECES: [&str; 30] = [
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\0",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
    "\u{2066}",
    "\u{feff}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{10ffff}",
    "\u{e0041}",
    "]]>",
    "<![CDATA[",
    "</testcase>",
    "&amp;",
    "&",
    "\"",
    "'",
    "::error file=x::",
    "%0A",
    ",",
    "[x](y)",
    "{0}",
    "\\",
    "\u{1f600}",
];

/// Small random number generator (SplitMix64): every run has the same texts.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }

    fn text(&mut self) -> String {
        (0..=self.below(4)).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }
}

/// Collects every position of a packet at which a text can be, as a JSON pointer.
fn places(value: &Value, at: &str, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            places.push(at.to_owned());
            for (key, value) in fields {
                self::places(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), places);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                self::places(item, &format!("{at}/{index}"), places);
            }
        }
        _ => places.push(at.to_owned()),
    }
}

/// Any text in any field, in any name of a field and in place of any line leaves each report valid and complete.
#[test]
fn any_text_anywhere_leaves_every_report_valid() {
    let mut random = Random(7);
    let packets: Vec<Value> = log(BAD).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut bytes = Vec::new();
    for round in 0..300 {
        let text = random.text();
        let mut packet = packets[random.below(packets.len())].clone();
        let mut all = Vec::new();
        places(&packet, "", &mut all);
        let place = match round % 3 {
            0 => ["/header/packet_id", "/header/correlation_id", "/header/packet_type"][random.below(3)].to_owned(),
            _ => all[random.below(all.len())].clone(),
        };
        match packet.pointer_mut(&place).unwrap() {
            Value::Object(fields) => drop(fields.insert(text, random.text().into())),
            value => *value = text.into(),
        }
        if round % 10 == 0 {
            // The check would end at a NUL byte.
            bytes.extend_from_slice(random.text().replace(['\n', '\0'], " ").as_bytes());
            bytes.push(0x80 + u8::try_from(random.below(128)).unwrap());
        } else {
            bytes.extend_from_slice(packet.to_string().as_bytes());
        }
        bytes.push(b'\n');
    }
    let folder = folder(&[("log.jsonl", &bytes)]);
    let mut args = vec!["check".to_owned(), "log.jsonl".to_owned()];
    args.extend(FORMATS.iter().map(|format| format!("--output={format}={format}")));
    let done = run(omen(args.iter().map(String::as_str)).current_dir(&folder));
    assert_eq!((done.code, done.stderr.as_str()), (1, ""));
    let report = |format: &str| fs::read_to_string(folder.path().join(format)).expect("a report in UTF-8");
    FORMATS.iter().for_each(|format| valid::any(format, &report(format)));

    let (findings, _) = json(&Run { code: 1, stdout: report("json"), stderr: String::new() });
    assert!(findings.len() >= 200, "{}", findings.len());
    assert_eq!(valid::concise(&report("concise")), findings.len());
    assert_eq!(valid::sarif(&report("sarif")), findings.len());
    assert_eq!(valid::gitlab(&report("gitlab")), findings.len());
    let roots = findings.iter().filter(|finding| finding["follows_from"].is_null()).count();
    assert_eq!(valid::markdown(&report("markdown")), roots);
    let lines: BTreeSet<_> =
        findings.iter().map(|finding| (finding["line"].as_u64(), finding["packet_id"].to_string())).collect();
    assert_eq!(valid::junit(&report("junit")), lines.len());
}

/// No name of a file can break a report.
#[test]
#[cfg(unix)]
fn any_name_of_a_file_leaves_every_report_valid() {
    use std::os::unix::ffi::OsStrExt as _;

    let folder = TempDir::new().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"a:b,c%0A]]>\"<&\n::error::\x1b[31m\xff\xe2\x80\xae .x.jsonl");
    fs::write(folder.path().join(name), "?\n").unwrap();
    for format in FORMATS {
        let run = run(omen(["check", "--format", format]).arg(name).current_dir(&folder));
        assert_eq!(run.code, 1, "{format}");
        valid::any(format, &run.stdout);
    }
}
