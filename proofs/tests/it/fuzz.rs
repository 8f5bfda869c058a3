//! What the fuzzer has found so far: the properties hold for every input of its corpus, and for every one that it has failed on.

#[path = "../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "it is a library of its own, too")]
mod targets;

use std::fs;
use std::path::Path;

use targets::{inputs, script};

/// Runs a target on the inputs that are kept for it; how many there are.
fn replay(target: fn(&[u8]), name: &str) -> usize {
    let mut count = 0;
    for kept in ["inputs", "crashes"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz").join(kept).join(name).with_extension("txt");
        let text = if file.exists() { fs::read_to_string(file).expect("it is UTF-8") } else { String::new() };
        for line in text.lines().filter(|line| !line.is_empty()) {
            // The last line that is printed is the input of a failure.
            println!("{name}: {line}");
            target(&inputs::unescape(line));
            count += 1;
        }
    }
    count
}

#[test]
fn lines() {
    assert!(replay(targets::parse, "parse") > 100);
}

#[test]
fn logs() {
    assert!(replay(targets::validator, "validator") > 100);
}

#[test]
fn proposals() {
    assert!(replay(targets::propose, "propose") > 100);
}

#[test]
fn resumed_episodes() {
    assert!(replay(targets::resume, "resume") > 100);
}

#[test]
fn the_properties_hold_for_every_example() {
    for (path, log) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        log.lines().for_each(|line| targets::parse(line.as_bytes()));
        let lines: Vec<_> = script::named(path, log).map(|(digits, _)| format!("#{digits:04x}")).collect();
        let (plain, cut) = (lines.join("\n"), lines.join("\n|\n"));
        for target in [targets::validator, targets::propose, targets::resume] {
            target(plain.as_bytes());
            target(cut.as_bytes());
        }
    }
}

#[test]
fn an_input_is_read_as_it_was_written() {
    let all: Vec<u8> = (0..=255).chain("\u{e4}\\n\\x0a\u{85}".bytes()).collect();
    let line = inputs::escape(&all);
    assert!(!line.contains('\n') && line.contains("\\n") && line.contains("\\xff"), "{line}");
    assert_eq!(inputs::unescape(&line), all);
}

#[test]
fn a_script_names_lines_of_examples() {
    let (digits, line) = script::examples()[7];
    let log = script::log(format!("#{digits:04x}\n\nabc\n#{digits:04x}~\"header\"~\"x\"").as_bytes());
    let edited = line.replacen("\"header\"", "\"x\"", 1);
    let expected: [&str; 4] = [line, "", "abc", &edited];
    assert_eq!(log, expected.map(|line| line.as_bytes().to_vec()));
    assert_ne!(edited, line);
}
