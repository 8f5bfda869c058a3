//! A proxy that was killed: what the next one makes of its log. Every start of a log is one that a kill may leave.

use std::io::Cursor;
use std::sync::Arc;

use omen_gate::{GateClock, SystemClock};
use omen_proxy::episode::{Interrupted, Mode, Recording};
use omen_testkit::proofs::Proofs;
use serde_json::Value;

use super::play::{Lines, play, transcripts};

/// What the next start does with a log that consists of these lines.
fn started(mode: Mode, log: &Lines) -> Vec<Interrupted> {
    let clock: Arc<dyn GateClock> = Arc::new(SystemClock::default());
    let text = log.0.lock().unwrap().iter().map(|line| format!("{line}\n")).collect::<String>();
    let is_own = |episode: &str| episode.starts_with("corr_session");
    Recording::new(mode, log.clone()).end_interrupted(|| Ok(Cursor::new(text.clone())), is_own, &clock).unwrap()
}

fn count(log: &Lines, packet: &str) -> usize {
    log.types().iter().filter(|own| *own == packet).count()
}

/// The log is judged clean, each directive has its result, and nothing is left to do.
fn is_ended(mode: Mode, log: &Lines, about: &str) {
    // An episode that waits, for a human or for what was decided, says so (D81): nothing of the proxy's leads on.
    let waits = |finding: &&omen::Finding| {
        let states = finding.state.as_deref().unwrap_or_default();
        let is_warning = finding.diagnostic.severity == omen_types::Severity::Warning;
        is_warning
            && finding.stage == omen::Stage::End
            && matches!(states, ["S3_DECIDE" | "S5_AUTHORIZE" | "S8_ESCALATED"])
    };
    let findings = log.findings();
    let findings: Vec<_> =
        findings.iter().filter(|finding| !waits(finding)).map(|finding| format!("{finding:?}")).collect();
    assert_eq!(findings, Vec::<String>::new(), "{about}");
    assert_eq!(count(log, "TaskDirectivePacket"), count(log, "TaskResultPacket"), "{about}");
    let before = log.all().len();
    assert_eq!(started(mode, log), [], "{about}");
    assert_eq!(log.all().len(), before, "{about}");
}

/// Wherever the proxy was killed, and the next one, too: after each packet, or by default after each fourth one, which is another
/// one in each transcript.
#[tokio::test]
async fn however_far_it_had_come_the_log_is_judged_clean() {
    let (mut ended, mut in_doubt) = (0, 0);
    let (step, most_ended, most_in_doubt) = Proofs::wanted().choose((4, 12, 10), (1, 50, 40));
    for (number, (name, lines)) in transcripts().into_iter().enumerate() {
        for mode in Mode::ALL {
            let whole = play(mode, &lines).await.log.0.lock().unwrap().clone();
            for packets in (1 + number % step..=whole.len()).step_by(step) {
                let about = format!("{name}, {mode}, {packets} packets");
                let log = Lines::new(whole[..packets].to_vec());
                let found = started(mode, &log);
                ended += found.len();
                for one in &found {
                    assert_eq!(one.not_ended, None, "{about}");
                    in_doubt += one.in_doubt;
                }
                is_ended(mode, &log, &about);
                // The next start may be killed while it does that.
                let all = log.0.lock().unwrap().clone();
                for again in packets + 1..all.len() {
                    let log = Lines::new(all[..again].to_vec());
                    started(mode, &log);
                    is_ended(mode, &log, &format!("{about}, then {again}"));
                }
            }
        }
    }
    assert!(ended > most_ended && in_doubt > most_in_doubt, "{ended} {in_doubt}");
}

/// What is recorded of a call whose outcome nobody knows, and for whom.
#[tokio::test]
async fn a_call_in_doubt_has_failed_and_the_episodes_of_others_are_left_alone() {
    let (_, lines) = transcripts().into_iter().find(|(name, _)| name == "good").unwrap();
    let whole = play(Mode::Enforce, &lines).await.log.all();
    let directive = whole.iter().position(|packet| packet["header"]["packet_type"] == "TaskDirectivePacket").unwrap();
    let text = |packets: &[Value]| packets.iter().map(Value::to_string).collect::<Vec<_>>();
    let log = Lines::new(text(&whole[..=directive]));
    let found = started(Mode::Enforce, &log);
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.episode.as_str(), one.in_doubt), ("corr_session", 1));
    assert!(one.to_string().contains("may have run"), "{one}");
    let result = &log.all()[directive + 1];
    assert_eq!(result["payload"]["result_status"], "FAILURE");
    assert_eq!(result["payload"]["error_details"]["error_code"], "cancelled");
    assert_eq!(result["payload"]["directive_packet_id"], whole[directive]["header"]["packet_id"]);
    // Another program has left an episode open in the same file, before and after.
    let other = |packet: &Value| {
        let mut packet = packet.clone();
        packet["header"]["correlation_id"] = "corr_other".into();
        packet
    };
    let others: Vec<Value> = whole[..=directive].iter().map(other).collect();
    let log = Lines::new([text(&others), text(&whole[..=directive]), text(&others[..1])].concat());
    assert_eq!(started(Mode::Enforce, &log).len(), 1);
    assert!(log.all()[2 * directive + 3..].iter().all(|packet| packet["header"]["correlation_id"] == "corr_session"));
}
