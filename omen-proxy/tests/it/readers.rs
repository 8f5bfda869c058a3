//! Other readers of lines than ours see the messages that were judged, and no other ones.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use omen_mcp::http::server::HttpLimits;
use omen_testkit::Need;
use omen_testkit::proofs::Proofs;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::http::sessions::begun;
use crate::http::world::{Http, local};
use crate::random::Random;
use crate::support::{End, World, proxy};

/// How programs read lines. Each writes what it has read, as JSON without characters at which a line could end.
const READERS: [(&str, &str, &str); 5] = [
    (
        "Python's text mode, as in the official package",
        "python3",
        "import json, sys, io\nfor line in io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8'): print(json.dumps(json.loads(line)))",
    ),
    (
        "Python's `str.splitlines`",
        "python3",
        "import json, sys\nfor line in sys.stdin.buffer.read().decode().splitlines(): print(json.dumps(json.loads(line)))",
    ),
    (
        "Python's `bytes.splitlines`",
        "python3",
        "import json, sys\nfor line in sys.stdin.buffer.read().splitlines(): print(json.dumps(json.loads(line)))",
    ),
    (
        "Python's binary lines",
        "python3",
        "import json, sys\nfor line in sys.stdin.buffer: print(json.dumps(json.loads(line)))",
    ),
    (
        "Node's `readline`",
        "node",
        "let out = '';\n\
         require('readline').createInterface({ input: process.stdin }).on('line', line => out += JSON.stringify(JSON.parse(line)) + '\\n')\n\
         .on('close', () => process.stdout.write(out));",
    ),
];

/// Characters at which some reader ends a line, a file or a string: those of `str.splitlines`, which has the ones of Java's and
/// Node's readers, and a few more.
const ENDS: [char; 14] = [
    '\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}', '\0', '\u{4}',
    '\u{1a}', '\u{1f}',
];

/// The call that nobody has allowed.
const SMUGGLED: &str =
    r#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"write","arguments":{"x":"smuggled"}}}"#;

/// What JSON allows between two values: on a stream a message has no line feed.
fn blank(random: &mut Random) -> &'static str {
    ["", "", "", " ", "\r", "\r\r", "\t\r ", " \r"][random.below(8)]
}

fn string(random: &mut Random) -> String {
    const PARTS: [&str; 14] = [
        "a",
        "é",
        "\u{85}",
        "\u{2028}",
        "\u{2029}",
        "\\\\",
        "\\\"",
        "\\u2028",
        "\\r\\n",
        "\u{c5}",
        "…",
        "\u{10ffff}",
        "\u{feff}",
        "\\/",
    ];
    let parts: String = (0..random.below(6)).map(|_| PARTS[random.below(14)]).collect();
    format!("\"{parts}\"")
}

fn value(random: &mut Random, depth: usize) -> String {
    let (before, after) = (blank(random), blank(random));
    let value = match random.below(if depth == 0 { 4 } else { 8 }) {
        0 => ["null", "true", "-1", "20"][random.below(4)].to_owned(),
        1 => SMUGGLED.to_owned(),
        2 | 3 => string(random),
        4 | 5 => {
            let items: Vec<_> = (0..random.below(4)).map(|_| value(random, depth - 1)).collect();
            format!("[{}{}]", items.join(","), if items.is_empty() { blank(random) } else { "" })
        }
        _ => {
            let members: Vec<_> = (0..random.below(4)).map(|n| member(random, n, depth - 1)).collect();
            format!("{{{}{}}}", members.join(","), if members.is_empty() { blank(random) } else { "" })
        }
    };
    format!("{before}{value}{after}")
}

/// A member of an object. The number keeps keys apart.
fn member(random: &mut Random, number: usize, depth: usize) -> String {
    let key = string(random);
    let key = key.strip_suffix('"').unwrap();
    format!("{}{key}{number}\"{}:{}", blank(random), blank(random), value(random, depth))
}

fn frame(random: &mut Random) -> String {
    let params = format!("{{{}}}", member(random, 0, 3));
    let parts = [
        format!("\"jsonrpc\"{}:\"2.0\"", blank(random)),
        format!("\"method\":{}\"notifications/x\"", blank(random)),
        format!("\"params\":{}{params}{}", blank(random), blank(random)),
        member(random, 1, 2),
    ];
    let first = random.below(4);
    let parts: Vec<_> = (0..4).map(|n| parts[(first + n) % 4].as_str()).collect();
    format!("{}{{{}{}}}{}", blank(random), parts.join(","), blank(random), blank(random))
}

/// What one side reads of what the other one sends.
async fn through(frames: &[String], from: &mut End, to: &mut End) -> String {
    let all = frames.join("\n") + "\n";
    let (write, read) = (from.to.as_mut().unwrap(), &mut to.from);
    let mut text = Vec::new();
    let reading = async {
        while memchr::memchr_iter(b'\n', &text).count() < frames.len() {
            assert!(read.read_buf(&mut text).await.unwrap() > 0, "the end");
        }
    };
    let ((), written) = tokio::join!(reading, write.write_all(all.as_bytes()));
    written.unwrap();
    String::from_utf8(text).unwrap()
}

fn same(reader: &str, lines: Vec<Value>, frames: &[String]) {
    for (frame, line) in frames.iter().zip(&lines) {
        assert_eq!(serde_json::from_str::<Value>(frame).unwrap(), *line, "{reader}: {frame:?}");
    }
    assert_eq!(lines.len(), frames.len(), "{reader}");
}

fn values<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<Value> {
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"))).collect()
}

/// Whether a program is installed, or says that it is not.
fn is_installed(program: &str) -> bool {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !there {
        let need = if program == "node" { Need::Node } else { Need::Python };
        need.skip(format_args!("`{program}` is not installed, so its readers are not tried"));
    }
    there
}

fn read_by(program: &str, script: &str, text: &str) -> Vec<Value> {
    let flag = if program == "node" { "-e" } else { "-c" };
    let mut command = Command::new(program);
    command.args([flag, script]).env("PYTHONUTF8", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut to, text) = (child.stdin.take().unwrap(), text.to_owned());
    let writer = std::thread::spawn(move || to.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{script}");
    values(std::str::from_utf8(&output.stdout).unwrap().split_terminator('\n'))
}

/// As many messages go out as have come in, each with its value, in both directions.
#[tokio::test]
async fn every_reader_of_lines_sees_each_message_as_one_line() {
    let usual = Proofs::wanted().choose(5_000, 100_000);
    let frames = std::env::var("OMEN_TEST_FRAMES").map_or(usual, |frames| frames.parse().unwrap());
    // In rounds, so that the texts stay small.
    let rounds = usize::max(frames / 50_000, 1);
    let count = frames / rounds / 2;
    let readers: Vec<_> = READERS.into_iter().filter(|(_, program, _)| is_installed(program)).collect();
    let (mut world, mut server) = World::with_server(proxy());
    let mut random = Random(30);
    for round in 0..rounds {
        let frames: Vec<_> = (0..count).map(|_| frame(&mut random)).collect();
        let back: Vec<_> = (0..count).map(|_| self::frame(&mut random)).collect();
        let texts = [
            (through(&frames, &mut world.client, &mut server).await, &frames),
            (through(&back, &mut server, &mut world.client).await, &back),
        ];
        for (text, frames) in &texts {
            let lines: Vec<_> = text.split_terminator(ENDS).collect();
            same("this one", values(lines.into_iter()), frames);
            for (name, program, script) in &readers {
                same(name, read_by(program, script, text), frames);
            }
        }
        println!("{} messages in both directions, {} readers", (round + 1) * 2 * count, readers.len() + 1);
    }
    assert_eq!(world.logs.lines(), [""; 0]);
}

/// Between values JSON has four characters; every other one at which a reader could end a line is not JSON, and a message with
/// one reaches nobody.
#[tokio::test]
async fn what_is_not_json_between_values_or_in_strings_is_refused() {
    let (mut world, mut server) = World::with_server(proxy());
    let end = |text: &str, at: usize, end: char| format!("{}{end}{}", &text[..at], &text[at..]);
    let message = r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}"#;
    let (mut refused, mut passed) = (0, 0);
    for ending in ENDS.into_iter().filter(|ending| *ending != '\n') {
        for at in 0..=message.len() {
            let broken = end(message, at, ending);
            let is_json = serde_json::from_str::<Value>(&broken).is_ok();
            world.client.send(&broken).await;
            if is_json {
                // In a name or the method it is a part of it; `jsonrpc` has to be itself.
                if serde_json::from_str::<Value>(&broken).unwrap()["jsonrpc"] != "2.0" || !broken.contains("\"method\"")
                {
                    assert_eq!(world.client.value().await["error"]["code"], -32_600, "{broken:?}");
                    continue;
                }
                let line = server.line().await.unwrap();
                assert!(!line.contains(ENDS), "{line:?}");
                passed += 1;
            } else {
                assert_eq!(world.client.value().await["error"]["code"], -32_700, "{broken:?}");
                refused += 1;
            }
        }
    }
    assert!(refused > 600 && passed > 80, "{refused} {passed}");
}

/// Events are lines, too, and some readers of them end a line where `str.splitlines` does.
#[tokio::test]
async fn an_event_has_its_message_on_one_line() {
    let mut http = Http::with_servers(proxy(), local(), HttpLimits::default()).await;
    let (client, mut server) = begun(&mut http).await;
    let mut random = Random(31);
    for id in 1..=200 {
        // A body may have several lines.
        let request = format!(
            "{{\"jsonrpc\":\r\n\"2.0\",\"id\":{id},\"method\":\"x\",\n\"params\":{{\"a\":{}}}}}",
            value(&mut random, 2)
        );
        let mut asked = client.open("POST", &request).await;
        let line = server.line().await.unwrap();
        assert!(!line.contains(ENDS), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), serde_json::from_str::<Value>(&request).unwrap());
        let result =
            format!("\"event\":{},\"id\":\"\u{2028}id: 9\u{2029}retry: 1\u{85}data: {{}}\"", value(&mut random, 2));
        let answer = format!("{{\"jsonrpc\":\"2.0\",\r\"id\":{id},\r\"result\":{{{result}}}\r}}");
        server.send(&answer).await;
        loop {
            let event = asked.text().await.expect("the answer");
            let lines: Vec<_> = event.split(ENDS).collect();
            let data: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("data: ")).collect();
            assert!(
                lines.iter().all(|line| ["id: ", "event: ", "data:"].iter().any(|field| line.starts_with(field))),
                "{event:?}"
            );
            let [data] = data[..] else { continue };
            assert_eq!(serde_json::from_str::<Value>(data).unwrap(), serde_json::from_str::<Value>(&answer).unwrap());
            break;
        }
    }
    http.stop().await;
}

/// Nothing is written to a stream but by `Line::write_to`. The others write to an episode's log, to a terminal's front end and to
/// standard error.
#[test]
fn there_is_one_way_to_write_a_line() {
    let mut writers = Vec::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![own.join("src"), own.join("../omen-mcp/src"), own.join("../omen-gate/src/server")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            if ["write_all(", "write_buf("].iter().any(|call| code.contains(call)) {
                writers.push(path.file_name().unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    writers.sort();
    assert_eq!(writers, ["call_file.rs", "front_end.rs", "line.rs", "stderr_tail.rs"]);
}
