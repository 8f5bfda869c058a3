//! Logs with slips, some of which can be fixed.

use super::*;

const LOGS: [&str; 5] = ["read-only", "verify-then-write", "escalate-then-act", "safe-mode-and-clear", "cancel"];

/// Returns a valid log with up to four slips.
pub(super) fn mutant(random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<String> =
        log(&format!("valid/{}.jsonl", LOGS[random.below(LOGS.len())])).lines().map(str::to_owned).collect();
    for _ in 0..=random.below(4) {
        let at = random.below(lines.len());
        match random.below(12) {
            0 => lines.insert(at, "```json".to_owned()),
            1 => lines[at].insert(0, '\u{feff}'),
            2 => drop(lines.remove(at)),
            3 => lines.insert(at, lines[at].clone()),
            4 => {
                let length = random.below(lines[at].len() + 1);
                if lines[at].is_char_boundary(length) {
                    lines[at].truncate(length);
                }
            }
            _ => lines[at] = slip(&lines[at], random),
        }
        if lines.is_empty() {
            break;
        }
    }
    let end = ["\n", "\r\n"][random.below(2)];
    let mut text = lines.join(end);
    if random.below(4) > 0 {
        text.push_str(end);
    }
    text.into_bytes()
}

/// Replaces one of the strings, numbers or names in a line.
fn slip(line: &str, random: &mut Random) -> String {
    let Ok(packet) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    let mut leaves = Vec::new();
    self::leaves(&packet, &mut leaves);
    if leaves.is_empty() {
        return line.to_owned();
    }
    let leaf = &leaves[random.below(leaves.len())];
    let slips = slips(leaf);
    line.replacen(leaf, &slips[random.below(slips.len())], 1)
}

/// Collects names and values as a line has them.
fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                found.push(format!("\"{name}\":"));
                leaves(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        value => found.push(value.to_string()),
    }
}

/// Returns variants of a text as a hurried author might write it.
fn slips(leaf: &str) -> Vec<String> {
    let inner = leaf.trim_end_matches(':').trim_matches('"');
    let end = if leaf.ends_with(':') { ":" } else { "" };
    let mut camel = String::new();
    for (at, part) in inner.split('_').enumerate() {
        let mut letters = part.chars();
        match letters.next().filter(|_| at > 0) {
            Some(first) => camel.extend(first.to_uppercase().chain(letters)),
            None => camel.push_str(part),
        }
    }
    let mut slips: Vec<_> =
        [inner.to_lowercase(), inner.to_uppercase(), format!("{inner}s"), camel, inner.replace('Z', "")]
            .iter()
            .map(|text| format!("\"{text}\"{end}"))
            .collect();
    slips.extend([format!("\"{inner}\"{end}"), format!("\"\"{end}")]);
    slips
}

/// Returns a packet with each value of each claim in another case and in quotes, and with its name misspelt: the claim, and the
/// line.
pub(super) fn broken_claims(packet: &Value) -> Vec<(&'static str, String)> {
    let mut broken = Vec::new();
    let mut pointers = Vec::new();
    claims_at(packet, "", None, &mut pointers);
    for (claim, pointer) in pointers {
        let mut change = |new: Value| {
            let mut packet = packet.clone();
            let old = packet.pointer_mut(&pointer).unwrap();
            if *old != new {
                *old = new;
                broken.push((claim, format!("{packet}\n")));
            }
        };
        match packet.pointer(&pointer).unwrap() {
            Value::String(text) => {
                change(text.to_lowercase().into());
                change(text.to_uppercase().into());
                change(text.trim_end_matches('Z').into());
            }
            value @ (Value::Number(_) | Value::Bool(_)) => change(value.to_string().into()),
            _ => {}
        }
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        if name.parse::<usize>().is_err() {
            let mut packet = packet.clone();
            let object = packet.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            let value = object.remove(name).unwrap();
            object.insert(format!("{name}s"), value);
            broken.push((claim, format!("{packet}\n")));
        }
    }
    broken
}

fn claims_at(value: &Value, path: &str, within: Option<&'static str>, found: &mut Vec<(&'static str, String)>) {
    if let Some(claim) = within {
        found.push((claim, path.to_owned()));
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let claim = CLAIMS.iter().find(|(claim, _)| claim == name).map(|(claim, _)| *claim);
                claims_at(value, &format!("{path}/{name}"), claim.or(within), found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| claims_at(item, &format!("{path}/{at}"), within, found));
        }
        _ => {}
    }
}
