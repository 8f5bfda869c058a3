//! Changes to an episode that its author may have intended, each with its help.

use std::collections::BTreeSet;

use omen_types::scalar::TextScalar as _;
use omen_types::suggest::misspelt;
use omen_types::{Code, Diagnostic, PacketId, PacketType, TaskId};
use serde_json::Value;

use super::log_packet::LogPacket;
use crate::finding::Finding;

/// Change of an episode, and the help that describes it.
pub(super) struct Change {
    edit: Edit,
    pub(super) help: String,
    /// Whether the help is in words: the change shows what is wrong, and must not be made.
    is_in_words: bool,
}

/// What is changed. Packets are counted within their episode.
enum Edit {
    Move { from: usize, to: usize },
    Remove(usize),
    Replace(usize, String),
}

impl Change {
    fn new(edit: Edit, help: String) -> Self {
        Self { edit, help, is_in_words: false }
    }

    /// Returns the texts of the packets after the change.
    pub(super) fn apply(&self, packets: &[&LogPacket]) -> Vec<String> {
        let mut texts: Vec<String> = packets.iter().map(|packet| packet.text.clone()).collect();
        match &self.edit {
            Edit::Move { from, to } => {
                let (first, last) = (*from.min(to), *from.max(to));
                if let Some(between) = texts.get_mut(first..=last) {
                    if from < to { between.rotate_left(1) } else { between.rotate_right(1) }
                }
            }
            Edit::Remove(at) => {
                texts.remove(*at);
            }
            Edit::Replace(at, text) => {
                if let Some(old) = texts.get_mut(*at) {
                    old.clone_from(text);
                }
            }
        }
        texts
    }
}

/// Returns whether a schema error is about what identifies a packet.
pub(super) fn is_identity(diagnostic: &Diagnostic) -> bool {
    missing(diagnostic).is_some()
}

/// Returns the changes to try for the finding on a packet, the likeliest first.
pub(super) fn all(packets: &[&LogPacket], at: usize, finding: &Finding) -> Vec<Change> {
    let mut changes = Vec::new();
    changes.extend(repeated(packets, at, finding));
    if finding.diagnostic.code != Code::Id {
        changes.extend(moves(packets, at, finding));
    }
    changes.extend(identity(packets, at, finding));
    changes.extend(renamed(packets, at, finding));
    changes.sort_by_key(|change| change.is_in_words);
    changes
}

/// Removes a packet that was sent before.
fn repeated(packets: &[&LogPacket], at: usize, finding: &Finding) -> Option<Change> {
    let packet = packets.get(at).filter(|_| finding.diagnostic.code == Code::Id)?;
    let first = packets.get(..at)?.iter().find(|other| other.text.trim() == packet.text.trim())?;
    let help = format!("remove this packet: it repeats the one in line {}", first.line);
    Some(Change::new(Edit::Remove(at), help))
}

/// Moves this packet, or another one to it.
fn moves(packets: &[&LogPacket], at: usize, finding: &Finding) -> Vec<Change> {
    let is_late = finding.diagnostic.code == Code::Inv011;
    let mut moves = Vec::new();
    for distance in 1..=FARTHEST {
        let (later, earlier) = (Some(at + distance).filter(|later| *later < packets.len()), at.checked_sub(distance));
        let pairs = [later.map(|other| (other, at)), later.map(|other| (at, other))];
        let pairs = pairs.into_iter().chain([earlier.map(|other| (at, other)), earlier.map(|other| (other, at))]);
        // Only its result ends a task.
        let may_move = |(from, _): &(usize, usize)| !is_late || is_result_of(packets, *from, finding);
        moves.extend(pairs.flatten().filter(may_move).filter_map(|(from, to)| moved(packets, from, to, at, finding)));
    }
    moves
}

/// Moves a packet. If the times of the packets say otherwise, or one of them is an approval, the help is in words: what the log
/// states must not change.
fn moved(packets: &[&LogPacket], from: usize, to: usize, at: usize, finding: &Finding) -> Option<Change> {
    let facts = |packet: &&LogPacket| packet.facts.as_ref().map(|facts| (facts.created_at, facts.is_approval));
    let others = if from < to { packets.get(from + 1..=to)? } else { packets.get(to..from)? };
    let others: Vec<_> = others.iter().map(facts).collect::<Option<_>>()?;
    let (created_at, is_approval) = packets.get(from).and_then(facts)?;
    let (side, is_in_time) = match from < to {
        true => ("after", others.iter().all(|(other, _)| *other <= created_at)),
        false => ("before", others.iter().all(|(other, _)| *other >= created_at)),
    };
    let passes_approval = is_approval || others.iter().any(|(_, is_approval)| *is_approval);
    let there = if from == at { to } else { from };
    let other = packets.get(there)?;
    let id = &other.facts.as_ref()?.packet_id;
    let named = format!("`{id}` (line {})", other.line);
    let (what, place) = if from == at { ("this packet", named.as_str()) } else { (named.as_str(), "this packet") };
    let (help, is_in_words) = if passes_approval {
        // A later packet belongs here, or the approval itself is in the wrong place.
        let is_late = there > at && (is_in_time || other.facts.as_ref()?.is_approval);
        let is_illegal = packets.get(at).and_then(facts)?.1 && finding.diagnostic.code == Code::Fsm;
        if !is_late && !is_illegal {
            return None;
        }
        let help = format!(
            "{what} belongs {side} {place}, and has to be sent there: an approval covers what comes after it in the log, so \
             packets are not moved past it"
        );
        (help, true)
    } else if is_in_time {
        (format!("move {what} {side} {place}: according to `created_at`, they were created in that order"), false)
    } else if finding.diagnostic.message.contains(&format!("`{id}`")) {
        (
            format!("{what} belongs {side} {place}, and has to be sent there: according to `created_at`, it was not"),
            true,
        )
    } else {
        return None;
    };
    Some(Change { is_in_words, ..Change::new(Edit::Move { from, to }, help) })
}

/// Returns whether a packet is the result of the task that a finding says is late.
fn is_result_of(packets: &[&LogPacket], at: usize, finding: &Finding) -> bool {
    let packet: Value = packets.get(at).and_then(|packet| serde_json::from_str(&packet.text).ok()).unwrap_or_default();
    let task = finding.diagnostic.message.split('`').nth(1);
    let text = |object: &str, name: &str| packet.get(object)?.get(name)?.as_str();
    text("header", PACKET_TYPE) == Some(PacketType::TaskResultPacket.as_str()) && text("payload", TASK_ID) == task
}

/// Gives a packet the id that later packets name, or the type that its payload has.
fn identity(packets: &[&LogPacket], at: usize, finding: &Finding) -> Vec<Change> {
    let diagnostic = &finding.diagnostic;
    let is_repeated = diagnostic.code == Code::Id;
    let Some((name, is_left_out)) = missing(diagnostic).or_else(|| is_repeated.then(|| repeated_id(diagnostic))?)
    else {
        return Vec::new();
    };
    let Some(packet) = packets.get(at) else { return Vec::new() };
    let verb = if is_left_out { "add" } else { "write" };
    let member = |value: &str| if is_left_out { format!("\"{name}\": \"{value}\"") } else { format!("\"{value}\"") };
    let change = |place: &str, value: &str, why: String| {
        let text = with(&packet.text, place, name, value)?;
        let help = format!("{verb} `{}`: {why}", member(value));
        Some(Change::new(Edit::Replace(at, text), help))
    };
    let mut changes = Vec::new();
    if name == PACKET_TYPE {
        // Only its author may turn a packet into an approval, or into the end of safe mode.
        let is_open = |packet_type: &&PacketType| {
            ![PacketType::ToolAuthorizationToken, PacketType::IntegrityAlertPacket].contains(packet_type)
        };
        let types = PacketType::ALL.iter().filter(is_open);
        changes.extend(types.filter_map(|packet_type| {
            change("/header", packet_type.as_str(), "its payload is of this type".to_owned())
        }));
        return changes;
    }
    let (place, holds): (_, fn(&str) -> bool) =
        if name == TASK_ID { ("/payload", TaskId::holds) } else { ("/header", PacketId::holds) };
    let dangling = dangling(packets, Some(at), holds);
    for (id, line) in &dangling {
        changes.extend(change(place, id, format!("line {line} names this id, and no packet has it")));
    }
    // The first of two packets with an id may be the wrong one.
    let own = |packet: &&LogPacket| packet.facts.as_ref().map(|facts| facts.packet_id.clone());
    let first = packets.iter().position(|other| is_repeated && own(other).is_some() && own(other) == own(packet));
    if let Some((place, first)) =
        first.filter(|_| name == PACKET_ID).and_then(|place| Some((place, packets.get(place)?)))
    {
        changes.extend(dangling.iter().filter_map(|(id, line)| {
            let text = with(&first.text, "/header", PACKET_ID, id)?;
            let help = format!(
                "write `\"{PACKET_ID}\": \"{id}\"` in line {}, in place of this id: line {line} names it, and no packet has it",
                first.line
            );
            Some(Change::new(Edit::Replace(place, text), help))
        }));
    }
    changes
}

/// Gives an earlier packet the id by which this one and later ones name it.
fn renamed(packets: &[&LogPacket], at: usize, finding: &Finding) -> Option<Change> {
    let packet: Value = serde_json::from_str(&packets.get(at)?.text).ok()?;
    let id = packet.pointer(finding.diagnostic.pointer.as_deref()?)?.as_str().filter(|id| PacketId::holds(id))?;
    let later = packets.get(at + 1..)?.iter().find(|later| named(&later.text).iter().any(|named| named == id))?;
    let own = |packet: &&LogPacket| packet.facts.as_ref().map(|facts| facts.packet_id.clone());
    let ids: Vec<String> = packets.get(..at)?.iter().filter_map(own).collect();
    if ids.iter().any(|own| own == id) {
        return None;
    }
    let meant = misspelt(id, ids.iter().map(String::as_str))?;
    let (place, earlier) = packets.iter().enumerate().find(|(_, packet)| own(packet).as_deref() == Some(meant))?;
    let text = with(&earlier.text, "/header", PACKET_ID, id)?;
    let help = format!(
        "write `\"{PACKET_ID}\": \"{id}\"` in line {}, in place of `{meant}`: so this packet and line {} name it",
        earlier.line, later.line
    );
    Some(Change::new(Edit::Replace(place, text), help))
}

/// Returns a help in words, which needs no change to be tried: facts from later packets, added to the help of the validator.
pub(super) fn in_words(packets: &[&LogPacket], at: usize, finding: &Finding) -> Option<String> {
    let help = finding.diagnostic.help.as_deref()?;
    if finding.diagnostic.code == Code::Inv011
        && let Some(at) = (at + 1..packets.len()).find(|later| is_result_of(packets, *later, finding))
    {
        let line = packets.get(at)?.line;
        return Some(format!(
            "its result is in line {line}, too late: set a `timeout_seconds` that fits the work, and cancel a task that cannot \
             meet it"
        ));
    }
    // The packet that the help describes is there, and something else is wrong with it.
    let described = help.split_once("`\"packet_id\": \"").and_then(|(_, rest)| rest.split('"').next());
    let is_described =
        |packet: &&&LogPacket| packet.facts.as_ref().is_some_and(|facts| Some(&*facts.packet_id) == described);
    if let Some(there) = packets.get(at + 1..).and_then(|later| later.iter().find(is_described)) {
        return Some(format!("`{}` (line {}) has to be sent before this packet", described?, there.line));
    }
    // The only packet that is to be sent first has the only id that is named and missing.
    let names = help.split_once("(`omen new ")?.1.split_once("`)")?.0;
    let mut missing = dangling(packets, at.checked_sub(1), PacketId::holds).into_iter();
    let (id, line) = missing.next().filter(|_| missing.next().is_none() && !names.contains(' '))?;
    let said = format!("(`omen new {names}`)");
    let (before, after) = help.split_once(&said)?;
    let field = format!("`\"{PACKET_ID}\": \"{id}\"`");
    Some(match after.split_once(" with `") {
        Some((between, stated)) => {
            format!("{before}{said}{between} with {field} and `{stated}; line {line} names that id")
        }
        None => format!("{before}{said} with {field}; line {line} names that id{}", after.replacen(", and ", "; ", 1)),
    })
}

/// Returns the field of the header or the payload that identifies a packet and is wrong, and whether it is left out.
fn missing(diagnostic: &Diagnostic) -> Option<(&'static str, bool)> {
    if diagnostic.code == Code::Id {
        return None;
    }
    let names = [("/header", PACKET_ID), ("/header", PACKET_TYPE), ("/payload", TASK_ID)];
    let pointer = diagnostic.pointer.as_deref()?;
    names.into_iter().find_map(|(place, name)| {
        let is_left_out = pointer == place && diagnostic.message.starts_with(&format!("missing field `{name}`"));
        let is_wrong = pointer.strip_prefix(place).and_then(|rest| rest.strip_prefix('/')) == Some(name);
        (is_left_out || is_wrong).then_some((name, is_left_out))
    })
}

fn repeated_id(diagnostic: &Diagnostic) -> Option<(&'static str, bool)> {
    let is_task = diagnostic.pointer.as_deref() == Some("/payload/task_id");
    Some((if is_task { TASK_ID } else { PACKET_ID }, false))
}

/// Returns the ids that packets after this one name and no packet of the episode has, each with the first line that names it.
fn dangling(packets: &[&LogPacket], at: Option<usize>, holds: fn(&str) -> bool) -> Vec<(String, u64)> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut found = Vec::new();
    for (place, packet) in packets.iter().enumerate() {
        let own = packet.facts.as_ref().map(|facts| facts.packet_id.as_str());
        let ids = named(&packet.text).into_iter().filter(|id| holds(id));
        if Some(place) > at {
            found.extend(ids.filter(|id| Some(id.as_str()) != own).map(|id| (id, packet.line)));
        } else if Some(place) < at && holds("task_1") {
            known.extend(ids);
        }
        known.extend(own.map(str::to_owned));
    }
    let mut seen = BTreeSet::new();
    found.retain(|(id, _)| !known.contains(id) && seen.insert(id.clone()));
    found.truncate(MOST_IDS);
    found
}

/// Returns all strings in a packet.
fn named(text: &str) -> Vec<String> {
    fn collect(value: Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(items) => items.into_iter().for_each(|item| collect(item, found)),
            Value::Object(fields) => fields.into_iter().for_each(|(_, value)| collect(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(serde_json::from_str(text).unwrap_or_default(), &mut found);
    found
}

/// Returns a packet with another value of a field.
fn with(text: &str, place: &str, name: &str, value: &str) -> Option<String> {
    let mut packet: Value = serde_json::from_str(text).ok()?;
    packet.pointer_mut(place)?.as_object_mut()?.insert(name.to_owned(), value.into());
    Some(packet.to_string())
}

const PACKET_ID: &str = "packet_id";
const PACKET_TYPE: &str = "packet_type";
const TASK_ID: &str = "task_id";

/// Maximum distance of a move, in packets of the episode.
const FARTHEST: usize = 8;

/// Maximum number of ids that are tried.
const MOST_IDS: usize = 8;
