//! LAYER: each packet comes from a layer that sends it, and tokens name their sender as the issuer (D63).
//!
//! It stands here and not among the invariants, since the table that it goes by is part of `episode.fsm.json`.

use omen_types::{Code, Diagnostic, LayerSource, PacketFacts, PayloadFacts};

use crate::table::{Event, ISSUES_FOR_OTHERS};

/// What is against the layers that a packet names. A warning, so it never rejects a packet by itself.
pub(crate) fn check(facts: &PacketFacts<'_>, event: Event, findings: &mut Vec<Diagnostic>) {
    let found = facts.header.layer_source;
    if let Some(senders) = event.senders()
        && !senders.contains(&found)
    {
        findings.push(sender(event, senders, found));
    }
    if let PayloadFacts::ToolAuthorizationToken(token) = &facts.payload
        && token.issuer_layer != found
        && !ISSUES_FOR_OTHERS.contains(&found)
    {
        findings.push(issuer(token.issuer_layer, found));
    }
}

fn sender(event: Event, senders: &[LayerSource], found: LayerSource) -> Diagnostic {
    let expected = one_of(senders);
    let packet_type = event.packet_type().map_or(event.as_str(), omen_types::PacketType::as_str);
    Diagnostic::warning(
        Code::Layer,
        format!("invalid `layer_source` `{}` for {packet_type}; expected {expected}", wire(found)),
    )
    .at("/header/layer_source")
    .label(format!("expected {expected}"))
    .help(format!(
        "leave this packet to the layer that sends it: {expected}; `omen explain LAYER` lists who sends what"
    ))
}

fn issuer(named: LayerSource, found: LayerSource) -> Diagnostic {
    Diagnostic::warning(
        Code::Layer,
        format!("`issuer_layer` is `{}`, but the packet comes from `{}`", wire(named), wire(found)),
    )
    .at("/payload/issuer_layer")
    .label(format!("expected `{}`", wire(found)))
    .help(format!("name the layer that sends the token, `{}`, or have `{}` send it", wire(found), wire(named)))
}

fn one_of(layers: &[LayerSource]) -> String {
    let names: Vec<_> = layers.iter().map(|layer| format!("`{}`", wire(*layer))).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}

/// A layer as JSON has it, without quotes.
pub(crate) fn wire(layer: LayerSource) -> String {
    match layer {
        LayerSource::LayerNumber(number) => number.get().to_string(),
        LayerSource::IntegrityLayer(overlay) => overlay.as_str().to_owned(),
    }
}
