//! Mistakes of many kinds, planted in every packet of a log.

use omen_types::pointer::unescape;
use serde_json::json;

use super::*;

/// Planted mistake: its kind, and the log with it.
pub(super) struct Planted {
    pub(super) kind: &'static str,
    pub(super) log: Vec<Value>,
}

/// Source of planted mistakes.
pub(super) struct Planter {
    /// One of how many mistakes in the order of packets and in ids is planted, and one of how many in values.
    every: [usize; 2],
    counts: [usize; 2],
    planted: Vec<Planted>,
}

impl Planter {
    pub(super) fn new(every: [usize; 2]) -> Self {
        Self { every, counts: [0; 2], planted: Vec::new() }
    }

    /// Returns mistakes in a packet of a log.
    pub(super) fn at(&mut self, log: &[Value], at: usize) -> Vec<Planted> {
        order(log, at, self);
        ids(log, at, self);
        values(log, at, self);
        self.planted.retain(|planted| planted.log != log);
        std::mem::take(&mut self.planted)
    }

    /// Plants a mistake, if it is one of those that are wanted.
    fn plant(&mut self, class: usize, kind: &'static str, log: &[Value], change: impl FnOnce(&mut Vec<Value>)) {
        self.counts[class] += 1;
        if self.counts[class].is_multiple_of(self.every[class]) {
            let mut log = log.to_vec();
            change(&mut log);
            self.planted.push(Planted { kind, log });
        }
    }
}

const ORDER: usize = 0;
const VALUES: usize = 1;

/// Packets that are missing, repeated or in the wrong order.
fn order(log: &[Value], at: usize, planter: &mut Planter) {
    let mut plant = |kind, change: &dyn Fn(&mut Vec<Value>)| planter.plant(ORDER, kind, log, change);
    plant("a packet left out", &|log| drop(log.remove(at)));
    plant("a packet sent twice", &|log| log.insert(at, log[at].clone()));
    plant("an earlier packet sent again", &|log| log.insert((at + 3).min(log.len()), log[at].clone()));
    for (kind, distance) in
        [("two packets swapped", 1), ("a packet two lines late", 2), ("a packet four lines late", 4)]
    {
        if at + distance < log.len() {
            plant(kind, &|log| log[at..=at + distance].rotate_left(1));
            plant("a packet too early", &|log| log[at..=at + distance].rotate_right(1));
        }
    }
    plant("the rest cut off", &|log| log.truncate(at + 1));
}

/// Ids that are wrong where they are given, or where they are named.
fn ids(log: &[Value], at: usize, planter: &mut Planter) {
    let mut plant = |kind, pointer: &str, id: Option<String>| {
        planter.plant(ORDER, kind, log, |log| set(&mut log[at], pointer, id.map(Value::from)));
    };
    let mut found = Vec::new();
    strings(&log[at], "", &mut found);
    for (pointer, id) in found.iter().filter(|(_, text)| is_id(text)) {
        let own = ["/header/packet_id", "/payload/token_id"].contains(&pointer.as_str())
            || pointer == "/payload/task_id" && log[at]["header"]["packet_type"] == "TaskDirectivePacket";
        let (slip, other) =
            if own { ("an id misspelt", "another id") } else { ("a reference misspelt", "another reference") };
        plant(slip, pointer, Some(misspelt(id)));
        plant(other, pointer, Some(format!("{}_of_another", id.split('_').next().unwrap())));
        plant(if own { "an id left out" } else { "a reference left out" }, pointer, None);
    }
    if let Some(before) = at.checked_sub(1).map(|before| log[before]["header"]["packet_id"].clone()) {
        plant("the id of the packet before", "/header/packet_id", before.as_str().map(str::to_owned));
    }
    plant("an id without its prefix", "/header/packet_id", Some(format!("packet {at}")));
}

/// Fields that are missing or have wrong values.
fn values(log: &[Value], at: usize, planter: &mut Planter) {
    let mut plant = |kind, pointer: &str, value: Option<Value>| {
        planter.plant(VALUES, kind, log, |log| set(&mut log[at], pointer, value));
    };
    let mut all = Vec::new();
    fields(&log[at], "", &mut all);
    for (pointer, value) in &all {
        plant("a field left out", pointer, None);
        match value {
            Value::Array(items) if !items.is_empty() => {
                plant("an empty list", pointer, Some(json!([])));
                plant("one element for a list", pointer, Some(items[0].clone()));
            }
            Value::Bool(holds) => {
                plant("a boolean that is wrong", pointer, Some((!holds).into()));
                plant("a boolean in quotes", pointer, Some(holds.to_string().into()));
            }
            Value::Number(number) => {
                plant("a number in quotes", pointer, Some(number.to_string().into()));
                plant("a number that is too large", pointer, Some(json!(number.as_f64().unwrap() * 1000.0 + 1.0)));
                plant("zero", pointer, Some(json!(0)));
            }
            Value::String(text) => {
                plant("an empty text", pointer, Some("".into()));
                plant("a placeholder", pointer, Some("…".into()));
                plant("another case", pointer, Some(text.to_lowercase().into()));
                plant("null", pointer, Some(Value::Null));
                plant("a number for a text", pointer, Some(json!(7)));
            }
            _ => {}
        }
    }
    for (pointer, others) in OTHERS {
        if log[at].pointer(pointer).is_some() {
            others.iter().for_each(|other| plant("another value", pointer, Some((*other).into())));
        }
    }
    for (kind, layer) in [
        ("a layer that is wrong", json!(6)),
        ("a layer that is wrong", json!(1)),
        ("a layer that is wrong", json!("Integrity")),
    ] {
        plant(kind, "/header/layer_source", Some(layer));
    }
    for (kind, time) in [("a time long before", "2025-03-02T09:14:09Z"), ("a time long after", "2029-03-02T09:14:09Z")]
    {
        plant(kind, "/header/created_at", Some(time.into()));
    }
    plant("no evidence and no reason", "/mcp/evidence", Some(json!({"evidence_refs": []})));
    plant("an unknown field", "/payload/remark", Some("as usual".into()));
    plant("another episode", "/header/correlation_id", Some("corr_of_another".into()));
}

/// Values of enumerations that matter to the rules.
const OTHERS: [(&str, &[&str]); 11] = [
    ("/header/packet_type", &["ObservationPacket", "BeliefUpdatePacket", "DecisionPacket", "TaskResultPacket"]),
    ("/mcp/epistemics/status", &["OBSERVED", "INFERRED", "HYPOTHESIZED", "UNKNOWN"]),
    ("/mcp/epistemics/freshness_class", &["REALTIME", "STRATEGIC"]),
    ("/mcp/quality/quality_tier", &["SUBPAR", "PAR", "SUPERB"]),
    ("/mcp/stakes/stakes_level", &["LOW", "HIGH", "CRITICAL"]),
    ("/mcp/routing/tools_state", &["tools_partial", "tools_down"]),
    ("/payload/decision_outcome", &["ACT", "VERIFY_FIRST", "ESCALATE", "DEFER", "CANCEL"]),
    ("/payload/result_status", &["SUCCESS", "FAILURE", "CANCELLED"]),
    ("/payload/observation_type", &["user_input", "telemetry"]),
    ("/payload/tool_safety_class", &["READ", "WRITE"]),
    ("/payload/severity", &["CLEAR", "CRITICAL", "WARNING"]),
];

/// Sets a value in a packet, or removes it.
fn set(packet: &mut Value, pointer: &str, value: Option<Value>) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (packet.pointer_mut(parent).unwrap(), value) {
        (Value::Object(fields), Some(value)) => drop(fields.insert(unescape(name).into_owned(), value)),
        (Value::Object(fields), None) => drop(fields.remove(&*unescape(name))),
        (Value::Array(items), Some(value)) => items[name.parse::<usize>().unwrap()] = value,
        (Value::Array(items), None) => drop(items.remove(name.parse().unwrap())),
        _ => panic!("no field at {parent}"),
    }
}

fn fields(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let pointer = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                found.push((pointer.clone(), value.clone()));
                fields(value, &pointer, found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| fields(item, &format!("{path}/{at}"), found));
        }
        _ => {}
    }
}

fn strings(value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(name, value)| strings(value, &format!("{path}/{name}"), found))
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| strings(item, &format!("{path}/{at}"), found));
        }
        Value::String(text) => found.push((path.to_owned(), text.clone())),
        _ => {}
    }
}

fn is_id(text: &str) -> bool {
    ["pkt_", "task_", "token_"].iter().any(|prefix| text.starts_with(prefix)) && !text.contains(' ')
}

/// Returns an id with a letter twice in its longest word.
fn misspelt(id: &str) -> String {
    let longest = id.split('_').max_by_key(|word| word.len()).unwrap();
    let (before, after) = longest.split_at(longest.len() / 2);
    let letter = before.chars().next_back().unwrap_or('x');
    id.replacen(longest, &format!("{before}{letter}{after}"), 1)
}
