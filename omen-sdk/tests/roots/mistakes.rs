//! Single mistakes that people and programs make.

use serde_json::{Value, json};

use super::random::Random;

/// A kind of mistake: its name, and the function that makes it in a log. The function returns the line that it changes, from 0;
/// `None` if the log is unsuitable.
pub(super) type Kind = (&'static str, fn(&mut Vec<String>, &mut Random) -> Option<usize>);

pub(super) const KINDS: &[Kind] = &[
    ("misspelt type", |log, random| {
        edit(log, random, |packet, random| misspell(packet.pointer_mut("/header/packet_type")?, random))
    }),
    ("missing member", |log, random| {
        edit(log, random, |packet, random| {
            let pointers = pointers(packet, &|_| true);
            let (parent, member) = random.of(&pointers)?.rsplit_once('/')?;
            packet.pointer_mut(parent)?.as_object_mut()?.remove(member).map(drop)
        })
    }),
    ("wrong enum", |log, random| {
        edit(log, random, |packet, random| {
            let names =
                ["observation_type", "update_type", "decision_outcome", "task_type", "tool_safety_class", "severity"];
            let more = [
                "result_status",
                "escalation_trigger",
                "impact",
                "stakes_level",
                "quality_tier",
                "status",
                "tools_state",
            ];
            let is_enum = |pointer: &str| names.iter().chain(&more).any(|name| pointer.ends_with(&format!("/{name}")));
            let pointers: Vec<_> =
                pointers(packet, &|value| value.is_string()).into_iter().filter(|one| is_enum(one)).collect();
            let value = packet.pointer_mut(random.of(&pointers)?)?;
            if random.below(2) == 0 { misspell(value, random) } else { put(value, json!("OTHER")) }
        })
    }),
    ("wrong type", |log, random| {
        edit(log, random, |packet, random| {
            let pointers = pointers(packet, &|value| !value.is_null());
            let value = packet.pointer_mut(random.of(&pointers)?)?;
            let others = [json!(17), json!("text"), json!([]), json!({}), json!(true), Value::Null];
            put(value, random.of(&others)?.clone())
        })
    }),
    ("unknown member", |log, random| {
        edit(log, random, |packet, random| {
            let objects = ["/header", "/mcp", "/mcp/stakes", "/payload", "/mcp/evidence"];
            packet
                .pointer_mut(random.of(&objects)?)?
                .as_object_mut()?
                .insert("remark".to_owned(), json!("x"))
                .map_or(Some(()), |_| None)
        })
    }),
    ("dropped line", |log, random| {
        let at = random.below(log.len());
        log.remove(at);
        Some(at)
    }),
    ("duplicated line", |log, random| {
        let at = random.below(log.len());
        let line = log.get(at)?.clone();
        log.insert(at + 1, line);
        Some(at + 1)
    }),
    ("swapped lines", |log, random| {
        let at = random.below(log.len().checked_sub(1)?);
        log.swap(at, at + 1);
        Some(at)
    }),
    ("wrong token id", |log, random| {
        let names = ["/payload/token_id", "/payload/authorization_token_id"];
        edit_one_of(log, random, &names, |value, random| put(value, json!(format!("token_other_{}", random.below(9)))))
    }),
    ("wrong belief id", |log, random| {
        let names = ["/payload/evidence_integration/0", "/payload/load_bearing_assumptions/0/verification_packet_id"];
        edit_one_of(log, random, &names, |value, random| put(value, json!(format!("pkt_other_{}", random.below(9)))))
    }),
    ("wrong directive id", |log, random| {
        let names = ["/payload/directive_packet_id", "/payload/task_id"];
        edit_one_of(log, random, &names, |value, random| {
            let text = if value.as_str()?.starts_with("pkt_") { "pkt_other" } else { "task_other" };
            put(value, json!(format!("{text}_{}", random.below(9))))
        })
    }),
    ("changed correlation id", |log, random| {
        edit(log, random, |packet, random| {
            let other = json!(format!("corr_of_another_episode_{}", random.below(1000)));
            put(packet.pointer_mut("/header/correlation_id")?, other)
        })
    }),
    ("broken JSON", |log, random| {
        let at = random.below(log.len());
        let line = log.get_mut(at)?;
        let marks: Vec<usize> = line.match_indices(['"', ':', ',', '{', '}']).map(|(at, _)| at).collect();
        let mark = *random.of(&marks)?;
        if random.below(2) == 0 {
            line.remove(mark);
        } else {
            line.insert(mark, '?');
        }
        Some(at)
    }),
    ("truncated line", |log, random| {
        let at = random.below(log.len());
        let line = log.get_mut(at)?;
        let mut length = 1 + random.below(line.len().checked_sub(2)?);
        while !line.is_char_boundary(length) {
            length -= 1;
        }
        line.truncate(length);
        Some(at)
    }),
    ("repeated id", |log, random| {
        let at = 1 + random.below(log.len().checked_sub(1)?);
        let other: Value = serde_json::from_str(log.get(random.below(at))?).ok()?;
        let mut packet: Value = serde_json::from_str(log.get(at)?).ok()?;
        put(packet.pointer_mut("/header/packet_id")?, other.pointer("/header/packet_id")?.clone())?;
        *log.get_mut(at)? = packet.to_string();
        Some(at)
    }),
    ("wrong tier", |log, random| {
        edit_one_of(log, random, &["/mcp/quality/quality_tier"], |value, random| {
            put(value, random.of(&[json!("SUBPAR"), json!("PAR"), json!("SUPERB")])?.clone())
        })
    }),
    ("wrong stakes", |log, random| {
        edit(log, random, |packet, random| {
            let levels = [json!("LOW"), json!("MEDIUM"), json!("HIGH"), json!("CRITICAL")];
            put(packet.pointer_mut("/mcp/stakes/stakes_level")?, random.of(&levels)?.clone())
        })
    }),
    ("missing evidence", |log, random| {
        edit(log, random, |packet, random| {
            let evidence = packet.pointer_mut("/mcp/evidence")?.as_object_mut()?;
            match random.below(2) {
                0 => evidence.insert("evidence_refs".to_owned(), json!([])).map(drop),
                _ => evidence.remove("evidence_refs").map(drop),
            }
        })
    }),
    ("timestamp garbled", |log, random| {
        let names = ["/header/created_at", "/payload/expiry", "/mcp/evidence/evidence_refs/0/timestamp"];
        edit_one_of(log, random, &names, |value, random| {
            let text = value.as_str()?.to_owned();
            let garbled =
                [text.replacen('T', " ", 2), text.replacen('-', "/", 2), text.replace('Z', ""), "yesterday".to_owned()];
            put(value, json!(random.of(&garbled)?))
        })
    }),
    ("negative number", |log, random| {
        edit(log, random, |packet, random| {
            let pointers = pointers(packet, &|value| value.as_u64().is_some_and(|number| number > 0));
            let value = packet.pointer_mut(random.of(&pointers)?)?;
            let number = value.as_i64()?;
            put(value, json!(-number))
        })
    }),
];

/// Changes one packet. Returns its line.
fn edit(
    log: &mut [String],
    random: &mut Random,
    change: impl Fn(&mut Value, &mut Random) -> Option<()>,
) -> Option<usize> {
    let at = random.below(log.len());
    let mut packet: Value = serde_json::from_str(log.get(at)?).ok()?;
    change(&mut packet, random)?;
    *log.get_mut(at)? = packet.to_string();
    Some(at)
}

/// Changes the value at one of some JSON pointers, in one packet.
fn edit_one_of(
    log: &mut [String],
    random: &mut Random,
    pointers: &[&str],
    change: impl Fn(&mut Value, &mut Random) -> Option<()>,
) -> Option<usize> {
    let mut places = Vec::new();
    for (at, line) in log.iter().enumerate() {
        let Ok(packet) = serde_json::from_str::<Value>(line) else { continue };
        places.extend(
            pointers
                .iter()
                .filter(|one| packet.pointer(one).is_some_and(|value| !value.is_null()))
                .map(|one| (at, *one)),
        );
    }
    let (at, pointer) = *random.of(&places)?;
    let mut packet: Value = serde_json::from_str(log.get(at)?).ok()?;
    change(packet.pointer_mut(pointer)?, random)?;
    *log.get_mut(at)? = packet.to_string();
    Some(at)
}

/// Replaces a value.
fn put(value: &mut Value, new: Value) -> Option<()> {
    (*value != new).then(|| *value = new)
}

/// Makes a typing mistake.
fn misspell(value: &mut Value, random: &mut Random) -> Option<()> {
    let mut text = value.as_str()?.to_owned();
    let at = random.below(text.len());
    match random.below(3) {
        0 => drop(text.remove(at)),
        1 => text.insert(at, 'x'),
        _ => {
            let letter = text.remove(at);
            text.insert(if at == 0 { text.len().min(1) } else { at - 1 }, letter);
        }
    }
    put(value, text.into())
}

/// Returns JSON pointers to the members of all objects whose values pass a test.
fn pointers(value: &Value, test: &dyn Fn(&Value) -> bool) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(object) = value.as_object() {
        for (name, member) in object {
            if test(member) {
                all.push(format!("/{name}"));
            }
            all.extend(pointers(member, test).into_iter().map(|inner| format!("/{name}{inner}")));
        }
    }
    all
}
