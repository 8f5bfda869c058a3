//! The dynamic entrance and the validator give the same verdict on every packet of every example.

use std::sync::{Arc, Mutex};

use omen::packet::{LayerSource, PacketHeader};
use omen::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::log::{Hands, Judged, episodes, examples, setup};

/// Gives the ids that a log has.
#[derive(Clone, Default)]
struct Given(Arc<Mutex<String>>);

impl IdSource for Given {
    fn packet_id(&mut self) -> String {
        self.0.lock().unwrap().clone()
    }

    fn task_id(&mut self) -> String {
        unreachable!("the log names its tasks")
    }

    fn token_id(&mut self) -> String {
        unreachable!("the log names its tokens")
    }
}

#[test]
fn proposals_are_judged_as_a_validator_judges_them() {
    let (mut made, mut refused, mut left_out) = (0, 0, 0);
    for (path, log) in examples() {
        for (id, lines) in episodes(log) {
            if lines.iter().all(|line| layer(&line.text).is_some_and(|layer| layer > 1)) {
                play(path, &id, &lines, &mut made, &mut refused);
            } else {
                left_out += 1;
            }
        }
    }
    println!(
        "proposed: {made} made, {refused} refused, as the validator says; {left_out} episodes that layer 1 or Integrity speaks in left out"
    );
    assert!(made > 700 && refused > 50, "{made} {refused}");
}

/// The layer of a packet, if its header is whole and names a number.
fn layer(line: &str) -> Option<u64> {
    match header(line)?.layer_source {
        LayerSource::LayerNumber(layer) => Some(layer.get()),
        LayerSource::IntegrityLayer(_) => None,
    }
}

fn header(line: &str) -> Option<PacketHeader> {
    let members: Map<String, Value> = serde_json::from_str(line).ok()?;
    serde_json::from_value(members.get("header")?.clone()).ok()
}

fn play(path: &str, id: &str, lines: &[Judged], made: &mut u32, refused: &mut u32) {
    let (clock, ids) = (Hands::new(), Given::default());
    let mut episode = setup(id, clock.clone()).ids(ids.clone()).start().into_any();
    for line in lines {
        let header = header(&line.text).unwrap();
        // What the episode writes into headers by itself cannot be wrong in a proposal.
        let Ok(parts) = serde_json::from_str::<std::collections::BTreeMap<String, &RawValue>>(&line.text) else {
            return;
        };
        let (Some(mcp), Some(payload)) = (parts.get("mcp"), parts.get("payload")) else { return };
        if parts.keys().any(|key| !["header", "mcp", "payload"].contains(&key.as_str())) {
            return;
        }
        clock.set(header.created_at.instant());
        episode = episode.from_layer(layer(&line.text).unwrap()).unwrap();
        *ids.0.lock().unwrap() = header.packet_id.to_string();
        let proposal = format!(r#"{{"packet_type": "{}", "mcp": {mcp}, "payload": {payload}}}"#, header.packet_type);
        match episode.propose(&proposal) {
            Ok(moved) => {
                assert!(line.errors.is_empty(), "{path}: made, and breaks {:?}: {}", line.errors, line.text);
                assert_eq!(moved.packet_id, header.packet_id);
                *made += 1;
                episode = moved.episode;
            }
            Err(not_moved) => {
                let code = not_moved.why.code();
                // A model may not say of itself that something is verified.
                let forged = code == Some(Code::Inv003) && line.text.contains(r#""verified":true"#);
                if line.errors.is_empty() && forged {
                    return;
                }
                assert_eq!(code.as_ref(), line.errors.first(), "{path}: {not_moved}: {}", line.text);
                *refused += 1;
                episode = not_moved.episode;
            }
        }
    }
}

#[test]
fn what_is_no_proposal_is_refused_with_a_reason() {
    for (text, code) in [
        ("", Code::Json),
        ("[]", Code::Json),
        (r#"{"packet_type": "ObservationPacket", "payload": {}, "payload": {}}"#, Code::Json),
        (r#"{"packet_type": "ObservationPacket", "payload": {}, "header": {}}"#, Code::Json),
        (r#"{"packet_type": "Observation", "payload": {}}"#, Code::Json),
        (r#"{"packet_type": "ObservationPacket", "payload": {}}"#, Code::Schema),
        (
            r#"{"packet_type": "ObservationPacket", "payload": {"observation_type": "user_input", "data": {"a": 1, "a": 2}}}"#,
            Code::Schema,
        ),
        (
            r#"{"packet_type": "DecisionPacket", "payload": {"decision_outcome": "CANCEL", "decision_summary": "safety", "constraints_satisfied": {"constitutional_check": true, "budget_check": true, "tier_check": true}}}"#,
            Code::E1,
        ),
    ] {
        let episode = setup("corr_a", Hands::new()).start().into_any();
        let refused = episode.propose(text).expect_err(text);
        assert_eq!(refused.why.code(), Some(code), "{text}: {refused}");
        assert_eq!(refused.episode.lines().len(), 0, "nothing was written");
    }
}
