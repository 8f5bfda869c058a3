//! Application of helps that are in one of the standard forms.

use omen::Finding;
use omen_types::pointer::unescape;

use super::*;

/// Returns the log after a help was applied; `None` if the help is in words only.
pub(super) fn applied(log: &str, finding: &Finding, help: &str) -> Option<String> {
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    let at = finding.line.map(|line| usize::try_from(line - 1).unwrap());
    if let Some(names) = between(help, "`omen new ", "`").filter(|_| !help.contains("prints a whole packet")) {
        return Some(with_packets(lines, at, finding, help, names));
    }
    let at = at?;
    let other = |text: &str| text.parse::<usize>().ok().map(|line| line - 1);
    if help.contains(" has to be sent there") && !help.starts_with("move ") {
        return None;
    }
    if help.starts_with("move ") && help.contains("(line ") {
        let other = other(between(help, "(line ", ")")?)?;
        let between = &mut lines[at.min(other)..=at.max(other)];
        let is_first = help.starts_with("move this packet") == (at < other);
        if is_first {
            between.rotate_left(1)
        } else {
            between.rotate_right(1)
        }
        return Some(lines.join("\n"));
    }
    if help.contains(" in line ") && help.contains("in place of ") {
        let at = other(between(help, "` in line ", ",")?)?;
        let (key, value) = member(between(help, "write `", "`")?)?;
        let mut packet: Value = serde_json::from_str(&lines[at]).ok()?;
        packet["header"][key] = value;
        lines[at] = packet.to_string();
        return Some(lines.join("\n"));
    }
    if help.starts_with("remove this packet") || help.starts_with("remove this result") {
        lines.remove(at);
        return Some(lines.join("\n"));
    }
    let mut packet: Value = serde_json::from_str(&lines[at]).ok()?;
    edit(&mut packet, finding, help)?;
    lines[at] = packet.to_string();
    Some(lines.join("\n"))
}

/// Returns the log with the packets that `omen new` prints, before the line or at the end.
fn with_packets(mut lines: Vec<String>, at: Option<usize>, finding: &Finding, help: &str, names: &str) -> String {
    let episode = finding.correlation_id.as_deref().unwrap();
    let folder = folder(&[("log.jsonl", (lines.join("\n") + "\n").as_bytes())]);
    let before = at.unwrap_or(lines.len());
    let mut args = vec!["new".to_owned()];
    args.extend(names.split(' ').map(str::to_owned));
    let is_begun = lines.iter().take(before).any(|line| line.contains(&format!("\"{episode}\"")));
    if is_begun {
        args.extend(["--after", "log.jsonl", "--episode", episode, "--line", &before.to_string()].map(str::to_owned));
    }
    let run = run(omen(args.iter().map(String::as_str)).current_dir(&folder));
    assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
    let packets = run.stdout.replace("\"corr_1\"", &format!("\"{episode}\""));
    let mut packets: Vec<Value> = packets.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Fields of the packets, if the help states them.
    let said = help.split_once(" with `\"").map_or("", |(_, said)| said).split(';').next().unwrap();
    for (key, value) in format!("\"{said}").split("` and `").filter_map(|said| member(said.split('`').next()?)) {
        let place = if packets[0]["header"].get(&key).is_some() { "header" } else { "payload" };
        let has_it = |packet: &Value| packet[place].get(&key).is_some();
        let at = packets.iter().position(has_it).unwrap_or(0);
        packets[at][place][&key] = value;
    }
    if let Some(at) = at {
        let mut refused: Value = serde_json::from_str(&lines[at]).unwrap();
        let token = packets.iter().rev().find_map(|packet| packet.pointer("/payload/token_id").cloned());
        if let Some(token) = token.filter(|_| help.contains("name its `token_id`")) {
            refused["payload"]["authorization_token_id"] = token;
        } else if help.contains("name a result or observation") {
            let is_evidence = |packet: &&Value| {
                let packet_type = packet["header"]["packet_type"].as_str().unwrap();
                ["ObservationPacket", "TaskResultPacket"].contains(&packet_type)
            };
            let evidence = packets.iter().rev().find(is_evidence).map(|packet| packet["header"]["packet_id"].clone());
            refused["payload"]["evidence_integration"] = Value::Array(evidence.into_iter().collect());
        }
        lines[at] = refused.to_string();
    }
    let packets = packets.into_iter().map(|packet| packet.to_string());
    lines.splice(before..before, packets);
    lines.join("\n")
}

fn edit(packet: &mut Value, finding: &Finding, help: &str) -> Option<()> {
    let pointer = finding.diagnostic.pointer.as_deref().unwrap_or_default();
    let (parent, name) = pointer.rsplit_once('/').map(|(parent, name)| (parent, unescape(name).into_owned()))?;
    if let Some(near) = between(help, "did you mean `", "`?") {
        if finding.diagnostic.message.starts_with("unknown field") {
            let object = packet.pointer_mut(parent)?.as_object_mut()?;
            let value = object.remove(&name)?;
            object.insert(near.to_owned(), value);
        } else {
            *packet.pointer_mut(pointer)? = Value::String(near.to_owned());
        }
    } else if help.starts_with("remove it") || help.starts_with("leave `") || help.starts_with("move `") {
        packet.pointer_mut(parent)?.as_object_mut()?.remove(&name)?;
    } else if help.starts_with("remove one of the two") {
        // Writing the packet again keeps one of them.
    } else if help.starts_with("add `\"") {
        let text = between(help, "add `", "`: ")?;
        let (key, value) = match between(help, "`omen new ", "` prints a whole packet") {
            Some(name) => whole(text, name, pointer)?,
            None => member(text.split("` and `").next()?)?,
        };
        let second = text.split("` and `").nth(1).and_then(member);
        let object = packet.pointer_mut(pointer)?.as_object_mut()?;
        object.insert(key, value);
        object.extend(second);
    } else if let Some(element) = between(help, ", such as `", "`").filter(|_| help.starts_with("add ")) {
        let count: usize = help.split(' ').nth(1)?.parse().ok()?;
        let element: Value = serde_json::from_str(element).unwrap();
        packet.pointer_mut(pointer)?.as_array_mut()?.extend(vec![element; count]);
    } else if help.starts_with("remove ") {
        let count: usize = help.split(' ').nth(1)?.parse().ok()?;
        let array = packet.pointer_mut(pointer)?.as_array_mut()?;
        array.truncate(array.len() - count);
    } else {
        let value = between(help, "write a value such as `", "`")
            .or_else(|| between(help, "such as `", "`; or remove the packet"))
            .or_else(|| between(help, "write one of `", "`"))
            .or_else(|| between(help, "the packets around it are of about `", "`"))
            .or_else(|| between(help, "after the packet before it, that is `", "` or later"))
            .or_else(|| between(help, "write `", "`"))?;
        match member(value) {
            Some((key, value)) => set(packet, pointer, key, value),
            _ => {
                let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
                *packet.pointer_mut(pointer)? = value;
            }
        }
        // A second field of the same help.
        if let Some(second) = help.split("` and `").nth(1).and_then(|rest| rest.split('`').next())
            && let Some((key, value)) = member(second)
        {
            set(packet, pointer, key, value);
        }
    }
    Some(())
}

/// Returns the field of a whole packet, where a help shows only its outline.
fn whole(outline: &str, name: &str, pointer: &str) -> Option<(String, Value)> {
    let run = run(&mut omen(["new", name]));
    let packet: Value = serde_json::from_str(&run.stdout).unwrap();
    let key = between(outline, "\"", "\"")?.to_owned();
    let value = packet.pointer(pointer)?.get(&key)?.clone();
    Some((key, value))
}

/// Parses `"name": value`.
fn member(text: &str) -> Option<(String, Value)> {
    let object: Value = serde_json::from_str(&format!("{{{text}}}")).ok()?;
    object.as_object()?.clone().into_iter().next()
}

/// Sets a field where the packet has it, or at the position of the finding.
fn set(packet: &mut Value, pointer: &str, key: String, value: Value) {
    let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    let places = [pointer, parent, "/payload", "/mcp/epistemics"];
    let has_it = |at: &&&str| packet.pointer(at).is_some_and(|at| at.get(&key).is_some());
    let place = places.iter().find(has_it).copied().unwrap_or(parent);
    packet.pointer_mut(place).unwrap().as_object_mut().unwrap().insert(key, value);
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}
