//! Packets: their three fields, the tag that distinguishes them, and the lists of packets.

use super::index::{Definition, HEADER, Index, Key, MCP, PACKET_UNION, Shape};
use super::kind::MistakeKind;
use super::node::Node;
use super::record::{self, FieldSpec, Want, need};
use super::report::Report;
use super::root::ROOT;
use super::suggest;
use crate::json::Json;
use crate::load::{BASE_FILE, SchemaSet};

const MEMBERS: [&str; 3] = ["header", "mcp", "payload"];
/// Enum of packet types, in the header's file.
const PACKET_TYPE: &str = "PacketType";

const BASE: &[FieldSpec] = &[
    need("description", Want::Text),
    need("type", Want::Any),
    need("properties", Want::Record),
    need("required", Want::Texts),
    need("additionalProperties", Want::Any),
    need("patternProperties", Want::Record),
];
const BASE_MEMBERS: &[FieldSpec] =
    &[need("header", Want::Record), need("mcp", Want::Record), need("payload", Want::Record)];
const REFERENCE: &[FieldSpec] = &[need("$ref", Want::Text), need("description", Want::Text)];
const BASE_PAYLOAD: &[FieldSpec] = &[need("type", Want::Text), need("description", Want::Text)];

const METADATA: &[FieldSpec] = &[need("^_", Want::Record)];
const ANYTHING: &[FieldSpec] = &[need("description", Want::Text)];

pub(super) fn check(set: &SchemaSet, index: &Index<'_>, report: &mut Report) {
    if let Some(json) = set.file(BASE_FILE) {
        base(index, &Node::root(BASE_FILE, json), report);
    }
    for packet in index.packets() {
        if packet.shape == Shape::Object {
            members(index, packet, report);
        } else {
            report.add(
                MistakeKind::PacketMembers,
                &packet.node,
                format!("the packet `{}` is not an object", packet.name),
                format!("make it an object of {}", suggest::list(&MEMBERS)),
            );
        }
    }
    union(index, report);
    types(index, report);
}

fn members(index: &Index<'_>, packet: &Definition<'_>, report: &mut Report) {
    for name in MEMBERS {
        if packet.property(name).is_none() {
            let problem = format!("the packet `{}` has no field `{name}`", packet.name);
            report.add(MistakeKind::PacketMembers, &packet.node, problem, format!("add `{name}`"));
        } else if !packet.requires(name) {
            let problem = format!("`{name}` of the packet `{}` is not required", packet.name);
            let help = format!("add `{name}` to `required`");
            report.add(MistakeKind::PacketMembers, &packet.node, problem, help);
        }
    }
    for (name, at) in packet.properties() {
        match name {
            "header" => {
                refers_to(index, &at, (HEADER, None), report);
                tag(packet, &at, report);
            }
            "mcp" => refers_to(index, &at, (MCP, None), report),
            "payload" => payload(index, packet, &at, report),
            _ => {
                let problem = format!("unknown field `{name}` in a packet");
                let help = suggest::help(name, MEMBERS);
                report.add(MistakeKind::PacketMembers, &at, problem, help);
            }
        }
    }
    match packet.node.get("patternProperties") {
        Some(at) => {
            record::check(report, &at, &[METADATA]);
            if let Some(at) = at.get("^_") {
                record::check(report, &at, &[ANYTHING]);
            }
        }
        None => report.add(
            MistakeKind::PacketMetadata,
            &packet.node,
            "this packet refuses fields that begin with `_`, which are metadata",
            "add `\"patternProperties\": { \"^_\": { \"description\": … } }`",
        ),
    }
}

/// Checks that the base has the fields of a packet, and leaves only the payload open.
fn base(index: &Index<'_>, root: &Node<'_>, report: &mut Report) {
    let before = report.count();
    record::check(report, root, &[ROOT, BASE]);
    if let Some(at) = root.get("properties") {
        record::check(report, &at, &[BASE_MEMBERS]);
        for (name, key) in [("header", HEADER), ("mcp", MCP)] {
            if let Some(at) = at.get(name) {
                record::check(report, &at, &[REFERENCE]);
                refers_to(index, &at, (key, None), report);
            }
        }
        if let Some(at) = at.get("payload") {
            record::check(report, &at, &[BASE_PAYLOAD]);
        }
    }
    if let Some(at) = root.get("patternProperties") {
        record::check(report, &at, &[METADATA]);
    }
    let members: Vec<_> = root.texts("required").into_iter().map(|(name, _)| name).collect();
    let text = |node: Option<Node<'_>>, key: &str| node.and_then(|node| node.text(key)).map(str::to_owned);
    let payload = root.get("properties").and_then(|node| node.get("payload"));
    let fits = members == MEMBERS
        && root.get("additionalProperties").is_some_and(|node| *node.json == Json::Bool(false))
        && root.text("type") == Some("object")
        && text(payload, "type").as_deref() == Some("object");
    if report.count() == before && !fits {
        report.add(
            MistakeKind::PacketBase,
            root,
            "this is not what every packet has",
            format!("require {} of a closed object, with an object as the payload", suggest::list(&MEMBERS)),
        );
    }
}

fn payload(index: &Index<'_>, packet: &Definition<'_>, at: &Node<'_>, report: &mut Report) {
    let stem = packet.name.strip_suffix("Packet").or(packet.name.strip_suffix("Token"));
    let name = format!("{}Payload", stem.unwrap_or(packet.name));
    refers_to(index, at, (packet.key.0, Some(&name)), report);
}

/// Checks that the field refers to the definition with this key, and that this definition is an object.
fn refers_to(index: &Index<'_>, at: &Node<'_>, key: Key<'_>, report: &mut Report) {
    // A broken reference is reported elsewhere.
    let Some(target) = index.referred(at) else { return };
    if target.key != key || target.shape != Shape::Object {
        let wanted = match key {
            (file, None) => format!("the root of `{file}`"),
            (_, Some(name)) => format!("the object `{name}` of this file"),
        };
        report.add(
            MistakeKind::PacketReference,
            at,
            format!("this member refers to `{}`, and not to {wanted}", target.name),
            format!("refer to {wanted}"),
        );
    }
}

fn tag(packet: &Definition<'_>, header: &Node<'_>, report: &mut Report) {
    let name = packet.name;
    let properties = header.get("properties");
    let at = properties.as_ref().unwrap_or(header);
    let tag = match at.json.members() {
        [(key, tag)] if key == "packet_type" => Some(tag.members()),
        _ => None,
    };
    let fits = match tag {
        Some([(key, Json::Array(values))]) if key == "enum" => values.as_slice() == [Json::String(name.to_owned())],
        _ => false,
    };
    if !fits {
        report.add(
            MistakeKind::PacketTag,
            at,
            format!("the header of `{name}` does not say that `packet_type` is `{name}`"),
            format!("write `\"properties\": {{ \"packet_type\": {{ \"enum\": [\"{name}\"] }} }}`"),
        );
    }
}

/// Checks that the union lists every packet exactly once, and nothing else.
fn union(index: &Index<'_>, report: &mut Report) {
    let Some(union) = index.definition((PACKET_UNION, None)) else { return };
    let mut listed = Vec::new();
    for branch in union.node.list("oneOf") {
        let Some(target) = index.referred(&branch) else { continue };
        if !target.is_packet() || listed.contains(&target.name) {
            let problem = format!("`{}` is not a packet, or is listed twice", target.name);
            report.add(MistakeKind::PacketList, &branch, problem, "list each packet once");
        }
        listed.push(target.name);
    }
    all_listed(index, &union.node, "the union", &listed, report);
}

/// Checks that the enum of packet types lists exactly the packets' names.
fn types(index: &Index<'_>, report: &mut Report) {
    let Some(header) = index.definition((HEADER, None)) else { return };
    if !header.requires("packet_type") {
        report.add(
            MistakeKind::PacketTag,
            &header.node,
            "the header does not require `packet_type`, which distinguishes the packets",
            "add `packet_type` to `required`",
        );
    }
    let at = header.property("packet_type");
    let target = at.as_ref().and_then(|at| index.referred(at));
    let Some(target) = target.filter(|target| target.key == (HEADER, Some(PACKET_TYPE))) else {
        return report.add(
            MistakeKind::PacketList,
            at.as_ref().unwrap_or(&header.node),
            format!("`packet_type` of the header does not refer to `{PACKET_TYPE}`"),
            format!("write `\"$ref\": \"#/$defs/{PACKET_TYPE}\"`"),
        );
    };
    for (value, at) in target.values() {
        if index.packet(value).is_none() {
            let problem = format!("there is no packet `{value}`");
            let help = suggest::help(value, index.packets().map(|packet| packet.name));
            report.add(MistakeKind::PacketList, &at, problem, help);
        }
    }
    all_listed(index, &target.node, "the enum of packet types", &target.value_names(), report);
}

fn all_listed(index: &Index<'_>, at: &Node<'_>, what: &str, listed: &[&str], report: &mut Report) {
    for packet in index.packets().filter(|packet| !listed.contains(&packet.name)) {
        report.add(
            MistakeKind::PacketList,
            at,
            format!("{what} lacks the packet `{}`", packet.name),
            format!("add `{}`, or remove its file", packet.name),
        );
    }
}
