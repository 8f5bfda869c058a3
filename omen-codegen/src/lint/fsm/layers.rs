//! Senders of packets: the table must cover every layer that a header can name, and every packet.

use super::super::index::{Index, Shape};
use super::super::kind::MistakeKind;
use super::super::names::pascal_case;
use super::super::node::Node;
use super::super::record::{self, FieldSpec, Want, may, need};
use super::super::report::Report;
use super::super::suggest;
use super::ids::{ids, ids_at, known_event};

const LAYERS: &[FieldSpec] = &[
    need("description", Want::Text),
    need("senders", Want::List),
    may("anywhere", Want::Texts),
    may("unjudged", Want::Texts),
    may("issues_for_others", Want::Texts),
    need("typed", Want::Texts),
    may("words", Want::List),
];

const SENDER: &[FieldSpec] = &[need("layer", Want::Text), need("sends", Want::Texts), need("description", Want::Text)];

const WORD: &[FieldSpec] =
    &[need("id", Want::Text), need("name", Want::Text), need("events", Want::Texts), need("description", Want::Text)];

/// Definition of the layer of a packet.
const LAYER_SOURCE: &str = "LayerSource";

pub(super) fn check(index: &Index<'_>, events: &[Node<'_>], layers: &Node<'_>, report: &mut Report) {
    let before = report.count();
    record::check(report, layers, &[LAYERS]);
    let known = known_layers(index);
    let senders = layers.list("senders");
    ids_at("layer", &senders, report);
    for sender in &senders {
        record::check(report, sender, &[SENDER]);
        if let (Some(layer), Some(at)) = (sender.text("layer"), sender.get("layer")) {
            known_layer(&known, layer, &at, report);
        }
        sender.texts("sends").iter().for_each(|(packet, at)| known_packet(index, packet, at, report));
    }
    for (layer, at) in layers.texts("issues_for_others").into_iter().chain(layers.texts("typed")) {
        known_layer(&known, layer, &at, report);
    }
    layers.texts("unjudged").iter().for_each(|(packet, at)| known_packet(index, packet, at, report));
    let words = layers.list("words");
    ids(&words, report);
    for word in &words {
        record::check(report, word, &[WORD]);
        if let (Some(name), Some(at)) = (word.text("name"), word.get("name")) {
            pascal_case(name, &at, report);
        }
    }
    let named = layers.texts("anywhere").into_iter().chain(words.iter().flat_map(|word| word.texts("events")));
    for (event, at) in named {
        known_event(events, event, &at, report);
    }
    if report.count() == before {
        complete(index, &known, layers, &senders, report);
    }
}

/// Checks that every layer and every packet is listed.
fn complete(index: &Index<'_>, known: &[String], layers: &Node<'_>, senders: &[Node<'_>], report: &mut Report) {
    for layer in known {
        if senders.iter().all(|sender| sender.text("layer") != Some(layer)) {
            let problem = format!("no entry is for the layer `{layer}`");
            let help = format!("add an entry with `\"layer\": \"{layer}\"`, and the packets that it sends");
            report.add(MistakeKind::MissingLayer, layers, problem, help);
        }
    }
    let sends = |sender: &Node<'_>, packet: &str| sender.texts("sends").iter().any(|(name, _)| *name == packet);
    let typed = layers.texts("typed");
    for packet in index.packets().map(|packet| packet.name) {
        if layers.texts("unjudged").iter().any(|(name, _)| *name == packet) {
            continue;
        }
        let mut from = senders.iter().filter(|sender| sends(sender, packet)).peekable();
        if from.peek().is_none() {
            let problem = format!("no layer sends the packet `{packet}`");
            report.add(MistakeKind::UnsentPacket, layers, problem, "add it to `sends` of a layer, or to `unjudged`");
        } else if !from.any(|sender| typed.iter().any(|(layer, _)| sender.text("layer") == Some(layer))) {
            let problem = format!("no layer of `typed` sends the packet `{packet}`");
            report.add(MistakeKind::UnsentPacket, layers, problem, "add a layer that sends it to `typed`");
        }
    }
}

/// Returns the layers that a header can name: the numbers of an integer type, and the values of an enum.
fn known_layers(index: &Index<'_>) -> Vec<String> {
    let Some(source) = index.definitions().find(|definition| definition.name == LAYER_SOURCE) else {
        return Vec::new();
    };
    let mut known = Vec::new();
    for branch in source.node.list("oneOf").iter().filter_map(|branch| index.referred(branch)) {
        match branch.shape {
            Shape::Integer => {
                let bound = |key: &str| branch.node.get(key).and_then(|node| node.json.as_u64());
                let (min, max) = (bound("minimum").unwrap_or(0), bound("maximum").unwrap_or(0));
                // Bounds that admit more layers than any table would list are a mistake.
                known.extend((min..=max.min(min.saturating_add(MOST))).map(|number| number.to_string()));
            }
            Shape::Enum => known.extend(branch.value_names().into_iter().map(str::to_owned)),
            _ => {}
        }
    }
    known
}

fn known_layer(known: &[String], layer: &str, at: &Node<'_>, report: &mut Report) {
    if !known.iter().any(|name| name == layer) && !layer.trim().is_empty() {
        let help = suggest::help(layer, known.iter().map(String::as_str));
        report.add(MistakeKind::UnknownLayer, at, format!("unknown layer `{layer}`"), help);
    }
}

fn known_packet(index: &Index<'_>, packet: &str, at: &Node<'_>, report: &mut Report) {
    if index.packet(packet).is_none() {
        let help = suggest::help(packet, index.packets().map(|packet| packet.name));
        report.add(MistakeKind::UnknownPacket, at, format!("there is no packet `{packet}`"), help);
    }
}

/// Maximum number of layers.
const MOST: u64 = 31;
