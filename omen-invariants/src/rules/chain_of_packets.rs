//! CHAIN: what a header refers to is there (D65).

use omen_types::{Code, Diagnostic};

use crate::Context;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let header = &context.facts.header;
    if let Some(previous) = &header.previous_packet_id
        && !context.ledger.has_accepted(previous)
    {
        findings.push(
            Diagnostic::warning(
                Code::Chain,
                format!(
                    "`previous_packet_id` is `{previous}`, which no accepted packet of this episode has before this one"
                ),
            )
            .at("/header/previous_packet_id")
            .label("no such packet")
            .help("name a packet of this episode that was accepted before, or leave `previous_packet_id` out"),
        );
    }
    if let Some(campaign) = &header.campaign_id
        && context.ledger.is_other_campaign(campaign)
    {
        findings.push(
            Diagnostic::warning(
                Code::Chain,
                format!("`campaign_id` `{campaign}` differs from the first one stated in this episode"),
            )
            .at("/header/campaign_id")
            .label("another campaign")
            .help("keep the `campaign_id` that the episode began with; work for another campaign is an episode of its own"),
        );
    }
}
