//! LAYER, as `rules.json` states it (D63). The senders are a table in `episode.fsm.json`, so the rule is here and
//! not among the invariants.

use omen_types::{Code, Diagnostic, LayerSource, PacketFacts, PayloadFacts};

use crate::help::layer as help;
use crate::table::{Event, ISSUES_FOR_OTHERS, layer_name};

/// Adds a warning for each field that names a wrong layer.
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
        format!("invalid `layer_source` `{}` for {packet_type}; expected {expected}", layer_name(found)),
    )
    .at("/header/layer_source")
    .label(format!("expected {expected}"))
    .help(help::sender(expected))
}

fn issuer(named: LayerSource, found: LayerSource) -> Diagnostic {
    Diagnostic::warning(
        Code::Layer,
        format!(
            "expected `issuer_layer` `{}`, the layer that sends the token, found `{}`",
            layer_name(found),
            layer_name(named)
        ),
    )
    .at("/payload/issuer_layer")
    .label(format!("expected `{}`", layer_name(found)))
    .help(help::issuer(layer_name(found), layer_name(named)))
}

fn one_of(layers: &[LayerSource]) -> String {
    let names: Vec<_> = layers.iter().map(|layer| format!("`{}`", layer_name(*layer))).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use omen_types::PacketType::{ObservationPacket, ToolAuthorizationToken};
    use serde_json::Value;

    use super::super::fixture::{TestEpisode, packet};

    fn found(packet: &Value) -> Vec<Option<String>> {
        let mut findings = Vec::new();
        TestEpisode::default().with(packet, |transition| {
            super::check(transition.context.facts, transition.event, &mut findings);
        });
        findings.into_iter().map(|finding| finding.pointer).collect()
    }

    fn token(layer: u8, issuer: u8) -> Value {
        packet(
            ToolAuthorizationToken,
            &[("/header/layer_source", layer.into()), ("/payload/issuer_layer", issuer.into())],
        )
    }

    #[test]
    fn a_packet_from_a_layer_that_sends_it_passes() {
        assert_eq!(found(&token(5, 5)), []);
        assert_eq!(found(&token(1, 5)), []);
    }

    #[test]
    fn another_layer_or_another_issuer_is_a_warning() {
        let observed = [("/header/layer_source", 3.into()), ("/payload/observation_type", "tool_output".into())];
        let observed = packet(ObservationPacket, &observed);
        assert_eq!(found(&observed), [Some("/header/layer_source".to_owned())]);
        assert_eq!(found(&token(5, 6)), [Some("/payload/issuer_layer".to_owned())]);
    }
}
