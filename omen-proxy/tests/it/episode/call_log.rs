//! Calls that are begun by one process and ended by another, each of which may be killed at any point.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use omen::{Finding, Stage, Validator, ValidatorOptions};
use omen_gate::arguments::Recordable;
use omen_gate::{GateClock, ManualClock, Permission, Permissions, TurnId};
use omen_proxy::episode::{Answers, CallEnd, CallLog, NotRecorded, SeenCall};
use omen_types::Severity;
use serde_json::{Map, Value, json};

/// Log of one session, which each event opens anew.
struct Session {
    folder: tempfile::TempDir,
    clock: Arc<ManualClock>,
    /// Episodes whose calls the audit log waits for.
    awaited: BTreeSet<String>,
}

impl Session {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)));
        Self { folder: tempfile::tempdir().unwrap(), clock, awaited: BTreeSet::new() }
    }

    /// A session whose log has these bytes.
    fn with_log(log: &[u8], awaited: &BTreeSet<String>) -> Self {
        let session = Self { awaited: awaited.clone(), ..Self::new() };
        std::fs::create_dir(session.path().parent().unwrap()).unwrap();
        std::fs::write(session.path(), log).unwrap();
        session
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("episodes/s.jsonl")
    }

    fn open(&self) -> CallLog {
        self.clock.advance(Duration::from_secs(1));
        let clock: Arc<dyn GateClock> = Arc::clone(&self.clock) as Arc<dyn GateClock>;
        CallLog::open(&self.path(), "agent:s", clock, |episode| self.awaited.contains(episode)).unwrap()
    }

    fn begin(&mut self, turn: &str) {
        let begun = with(turn, |call| self.open().begin(call, &Answers::default())).unwrap();
        self.awaited.insert(begun.packet().unwrap().1.to_string());
    }

    fn end(&mut self, turn: &str, end: &CallEnd) {
        let episode = format!("corr_{turn}");
        with(turn, |call| self.open().end(&episode, call, end)).unwrap();
        self.awaited.remove(&episode);
    }

    /// Ends all calls that are awaited, as the end of a session does.
    fn close(&mut self) {
        for episode in self.awaited.clone() {
            self.end(episode.strip_prefix("corr_").unwrap(), &CallEnd::InDoubt("the session ended".to_owned()));
        }
        drop(self.open());
    }

    fn lines(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.path()).unwrap();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        let mut validator = Validator::new(ValidatorOptions::default());
        let Ok(()) = validator.feed(&std::fs::read(self.path()).unwrap(), &mut findings);
        let Ok(_) = validator.finish(&mut findings);
        findings
    }
}

fn with<T>(turn: &str, then: impl FnOnce(&SeenCall<'_>) -> T) -> T {
    let (turn, permissions) = (TurnId::new(turn).unwrap(), Permissions::new([Permission::Write]).unwrap());
    let args: Map<String, Value> = json!({"command": "x"}).as_object().unwrap().clone();
    then(&SeenCall {
        turn: &turn,
        tool: "agent/Bash".to_owned(),
        hash: "ab".repeat(32),
        args: &args,
        recordable: Recordable::default(),
        permissions: Some(&permissions),
    })
}

fn failed() -> CallEnd {
    CallEnd::Failed { code: "tool", why: "the tool failed".to_owned() }
}

/// A session of several calls at once, one of which is refused.
fn played() -> Session {
    let mut session = Session::new();
    session.begin("t1");
    session.begin("t2");
    session.end("t1", &CallEnd::Succeeded(json!({"reported": "success"})));
    with("t3", |call| session.open().refuse(call, &Answers::default(), ("PG-3", "not allowed"))).unwrap();
    session.begin("t4");
    session.end("t2", &failed());
    session.end("t4", &CallEnd::DidNotRun("it did not run".to_owned()));
    session
}

#[test]
fn a_session_of_several_processes_is_judged_clean() {
    let session = played();
    assert_eq!(session.findings().len(), 0, "{:?}", session.findings());
    assert!(session.lines().iter().all(|packet| packet["header"]["campaign_id"] == "camp_agent-s"));
    let results = session.lines();
    let results: Vec<_> = results.iter().filter_map(|packet| packet["payload"]["result_status"].as_str()).collect();
    assert_eq!(results, ["SUCCESS", "FAILURE", "CANCELLED"]);
}

/// Wherever a process was killed, the next events make the log whole: whether or not the audit log has the call.
#[test]
fn every_start_of_a_log_is_made_whole() {
    let whole = std::fs::read(played().path()).unwrap();
    let ends = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    // After each packet, and within each.
    let cuts: Vec<_> = ends.flat_map(|end| [end - 40, end - 1, end]).collect();
    let mut is_torn = false;
    for cut in cuts {
        let log = &whole[..cut];
        let text = String::from_utf8_lossy(log);
        let open: BTreeSet<_> = ["t1", "t2", "t4"].iter().map(|turn| format!("corr_{turn}")).collect();
        let begun = |episode: &&String| {
            text.lines().any(|line| {
                line.contains(episode.as_str()) && line.contains("TaskDirectivePacket") && line.ends_with('}')
            })
        };
        let begun: BTreeSet<_> = open.iter().filter(begun).cloned().collect();
        for awaited in [BTreeSet::new(), begun] {
            let mut session = Session::with_log(log, &awaited);
            // An event of another call comes first.
            session.begin("t9");
            session.end("t9", &failed());
            session.awaited.extend(left_open(&session));
            session.close();
            let about = format!("{cut} bytes, {awaited:?}");
            // One that was only decided, or had only its token, waits for a directive that nobody sends any more (D81).
            let waits =
                |finding: &Finding| finding.diagnostic.severity == Severity::Warning && finding.stage == Stage::End;
            assert!(session.findings().iter().all(waits), "{about}: {:?}", session.findings());
            is_torn |= std::fs::read_dir(session.path().parent().unwrap()).unwrap().count() > 1;
            // There is nothing left to do.
            let before = std::fs::read(session.path()).unwrap();
            drop(session.open());
            assert_eq!(std::fs::read(session.path()).unwrap(), before, "{about}");
        }
    }
    assert!(is_torn);
}

/// Episodes with a directive that has no result, other than the last one: the audit log has them, since their hook had ended.
fn left_open(session: &Session) -> BTreeSet<String> {
    let findings = session.findings();
    let errors = findings.iter().filter(|finding| finding.diagnostic.severity == Severity::Error);
    errors.filter_map(|finding| finding.correlation_id.clone()).collect()
}

#[test]
fn a_call_that_ran_anyway_is_found_and_the_next_ones_are_not() {
    let mut session = Session::new();
    let why = ("after_denial", "the call ran although it was denied");
    let ran =
        |call: &SeenCall<'_>| session.open().ran_anyway(call, why, &CallEnd::Succeeded(json!({"reported": "success"})));
    let (_, episode) = with("t1", ran).unwrap();
    let found = |session: &Session| {
        let findings = session.findings();
        findings.iter().map(|finding| finding.diagnostic.code.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(found(&session)[0], "E2", "{:?}", session.findings());
    assert!(session.findings().iter().all(|finding| finding.correlation_id.as_deref() == Some(episode.as_str())));
    let before = found(&session);
    session.begin("t2");
    session.end("t2", &failed());
    session.close();
    assert_eq!(found(&session), before);
}

#[test]
fn an_outcome_that_comes_late_is_noted() {
    let mut session = Session::new();
    session.begin("t1");
    session.close();
    session.open().note("corr_t1", "the outcome was reported late").unwrap();
    assert_eq!(session.findings().len(), 0);
    assert_eq!(session.lines().last().unwrap()["payload"]["summary"], "the outcome was reported late");
}

/// What an agent writes into its calls is not taken for packets of the log.
#[test]
fn long_sessions_are_read_from_their_end() {
    let mut session = Session::new();
    session.begin("t1");
    for number in 0..300 {
        let text = format!("\"correlation_id\":\"corr_t1\" \"packet_id\":\"pkt_1\" {number}");
        with(&format!("t1-{number}"), |call| session.open().refuse(call, &Answers::default(), ("PG-3", &text)))
            .unwrap();
    }
    assert!(session.path().metadata().unwrap().len() > 1 << 20);
    session.end("t1", &failed());
    assert_eq!(session.findings().len(), 0);
}

#[test]
fn what_is_not_a_file_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| -> Result<CallLog, NotRecorded> {
        CallLog::open(path, "agent:s", Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH)), |_| false)
    };
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(open(&file.join("s.jsonl")).is_err() && open(folder.path()).is_err());
    assert!(open(&folder.path().join("new/s.jsonl")).is_ok());
}
