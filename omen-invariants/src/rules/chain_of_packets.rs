//! CHAIN, as `rules.json` states it: what a header refers to exists (D65).

use omen_types::{Code, Diagnostic};

use crate::context::Context;
use crate::help::chain as help;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let header = &context.facts.header;
    if let Some(previous) = &header.previous_packet_id
        && !context.ledger.has_accepted(previous)
    {
        let problem = format!("`previous_packet_id` `{previous}` is not an earlier accepted packet of this episode");
        findings.push(
            Diagnostic::warning(Code::Chain, problem)
                .at("/header/previous_packet_id")
                .label("no such packet")
                .help(help::PREVIOUS),
        );
    }
    if let Some(campaign) = &header.campaign_id
        && context.ledger.is_other_campaign(campaign)
    {
        let problem = format!("`campaign_id` `{campaign}` differs from the first one stated in this episode");
        findings.push(
            Diagnostic::warning(Code::Chain, problem)
                .at("/header/campaign_id")
                .label("another campaign")
                .help(help::CAMPAIGN),
        );
    }
}

#[cfg(test)]
mod tests {
    use omen_types::PacketType::BeliefUpdatePacket;
    use omen_types::Severity;
    use serde_json::Value;

    use super::super::fixture::{Episode, packet};
    use super::check;

    fn belief(id: &str, previous: &str, campaign: &str) -> Value {
        packet(
            BeliefUpdatePacket,
            &[
                ("/header/packet_id", id.into()),
                ("/header/previous_packet_id", previous.into()),
                ("/header/campaign_id", campaign.into()),
            ],
        )
    }

    fn begun() -> Episode {
        Episode::default().accept(&belief("pkt_1", "pkt_0", "camp_a"), Default::default())
    }

    #[test]
    fn links_within_the_episode_pass() {
        assert_eq!(begun().check(check, &belief("pkt_2", "pkt_1", "camp_a")), []);
    }

    #[test]
    fn links_that_lead_elsewhere_are_warnings() {
        let found = begun().check(check, &belief("pkt_2", "pkt_9", "camp_b"));
        let places = ["/header/previous_packet_id", "/header/campaign_id"];
        assert_eq!(found, places.map(|place| (Severity::Warning, place.to_owned())));
    }
}
