//! Senders of the packets of an episode, and links between the packets (LAYER, CHAIN).

use omen::validator::{Event, ValidatorOptions};
use omen::*;
use omen_types::PacketFacts;

use super::log::{Hands, envelope, setup};
use super::refusals::{acting, modelling, ruling};

/// Returns the findings of a validator about some lines, including warnings.
fn judged(lines: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut validator = Validator::new(ValidatorOptions::default());
    validator.feed(lines.join("\n").as_bytes(), &mut findings);
    let Ok(_) = validator.finish(&mut findings);
    findings
}

/// Returns the codes of the findings on packets. The end is ignored, since these logs end before their episodes do (D81).
fn codes(lines: &[String]) -> Vec<&'static str> {
    let findings = judged(lines);
    let on_packets = findings.iter().filter(|finding| finding.stage != omen::Stage::End);
    on_packets.map(|finding| finding.diagnostic.code.as_str()).collect()
}

#[test]
fn each_packet_comes_from_a_layer_that_sends_it() {
    tool!(Set = "config.set", Write);
    scope!(Change: tools [Set], operations [Modify]);
    let episode = acting(setup("corr_a", Hands::new()), &envelope());
    let (episode, [permit]) = episode.authorize::<Change, 1>(TokenSpec::new(60, text!("one change"))).unwrap();
    let (episode, [task]) =
        episode.execute([Directive::new(Set, op::Modify, fields!({ "key": "a" })).with(permit)]).unwrap();
    let lines = episode.halt(text!("stop")).clear(Layer1::assume().order(text!("all is well"))).lines().to_vec();
    drop(task);
    assert!(codes(&lines).is_empty(), "{:#?}", judged(&lines));
    let mut events = Vec::new();
    for line in &lines {
        let facts = PacketFacts::parse(line).unwrap();
        let event = Event::of(&facts);
        let senders = event.senders().unwrap_or_default();
        assert!(senders.is_empty() || senders.contains(&facts.header.layer_source), "{line}");
        events.push(event);
    }
    for event in [Event::Authorize, Event::DirectWrite, Event::Halt, Event::Release] {
        assert!(events.contains(&event), "{event}");
    }
}

/// The campaign is the one that the log states first, even if the resuming program is set up with another (D65).
#[test]
fn an_episode_that_is_resumed_stays_in_its_campaign() {
    let campaign = |id: &str| id.parse().unwrap();
    for (first, second) in [(Some("camp_a"), Some("camp_b")), (Some("camp_a"), None), (None, Some("camp_b"))] {
        let setup = |id: Option<&str>| {
            let setup = setup("corr_a", Hands::new());
            match id {
                Some(id) => setup.campaign(campaign(id)),
                None => setup,
            }
        };
        let lines = modelling(setup(first)).lines().to_vec();
        let resumed = AnyEpisode::resume(setup(second), lines.iter().map(String::as_str)).unwrap();
        let AnyEpisode::Model(episode) = resumed else { panic!("{resumed:?}") };
        // A resumed episode keeps only the lines that it writes itself.
        let mut all = lines;
        all.extend_from_slice(episode.cancel(ruling(), &envelope()).lines());
        assert!(all.len() > 2);
        assert!(codes(&all).is_empty(), "{first:?}, then {second:?}: {:#?}", judged(&all));
        let last = PacketFacts::parse(all.last().unwrap()).unwrap();
        assert_eq!(last.header.campaign_id.as_deref(), first.or(second));
    }
}

/// The table has no other way for layer 1 to override an escalation (D71).
#[test]
fn layer_1_answers_an_escalation() {
    let choice = |id: &str| Choice { id: id.into(), description: id.into(), pros: Vec::new(), cons: Vec::new() };
    let escalated = modelling(setup("corr_a", Hands::new())).to_escalate(ruling(), &envelope()).escalate(Escalation {
        trigger: EscalationTrigger::UserOverrideRequired,
        options: [choice("a"), choice("b")],
        gaps: [Gap { gap: "the cost".into(), impact_if_unknown: "it may be high".into() }],
        next_step: Recommendation { step: text!("ask"), rationale: "it is theirs".into() },
    });
    let order = Layer1::assume().order(text!("override: take the first option"));
    let lines = escalated.answered(Answer::order(order)).lines().to_vec();
    let answer = PacketFacts::parse(lines.last().unwrap()).unwrap();
    assert_eq!(Event::of(&answer), Event::ObserveUser);
    assert_eq!(serde_json::to_value(answer.header.layer_source).unwrap(), 1);
    assert!(lines.last().unwrap().contains("override: take the first option"));
    assert!(codes(&lines).is_empty(), "{:#?}", judged(&lines));
}

#[test]
fn the_time_of_a_file_or_of_a_clock_is_a_timestamp() {
    use std::time::{Duration, SystemTime};

    let time = SystemTime::UNIX_EPOCH + Duration::new(1_772_359_200, 500_000_000);
    let evidence = Evidence::tool_output(text!("config.get#1"), time.into());
    let timestamp = omen::Timestamp::from(time);
    assert_eq!(timestamp.as_str(), "2026-03-01T10:00:00.5Z");
    assert_eq!(timestamp.instant(), Instant::from(time));
    assert!(format!("{evidence:?}").contains("2026-03-01T10:00:00.5Z"), "{evidence:?}");
}
