//! Hooks that record each call as an episode: what `omen check` says of a session, in one process or many, and wherever one was killed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use omen_testkit::proofs::Proofs;

use super::fake_agent::{FakeAgent, Resident};
use super::*;

/// Agent whose hooks record episodes.
struct Recorded<'f>(FakeAgent<'f>);

impl<'f> Recorded<'f> {
    fn new(agent: &'f str, folder: &'f Path, session: &str, resident: &'f str) -> Self {
        Self(FakeAgent { agent, folder, session: session.to_owned(), resident })
    }

    fn before(&self, id: &str, command: &str) -> Run {
        self.send(&self.0.event(false, id, command))
    }

    fn after(&self, id: &str, command: &str) -> Run {
        self.send(&self.0.event(true, id, command))
    }

    fn send(&self, event: &Value) -> Run {
        self.0.hook_with(&["--episode", "observe"], &event.to_string())
    }

    /// The end of the session, for agents that report it.
    fn end(&self) {
        let name = if self.0.agent == "cursor" { "sessionEnd" } else { "SessionEnd" };
        let mut event = self.0.event(false, "e", "x");
        event["hook_event_name"] = json!(name);
        let ended = self.send(&event);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", self.0.agent);
    }
}

fn logs(folder: &Path) -> PathBuf {
    folder.join("audit.episodes")
}

/// What `omen check` says of all sessions: its exit code and the codes of its errors.
fn checked(folder: &Path) -> (i32, Vec<String>) {
    let checked = run(omen(["check", "--all", "--format", "json", "audit.episodes"]).current_dir(folder));
    assert!(checked.stdout.contains("\"summary\""), "{} {}", checked.stdout, checked.stderr);
    let lines = checked.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let errors = lines.filter(|line| line["severity"] == "error");
    (checked.code, errors.map(|line| line["code"].as_str().unwrap().to_owned()).collect())
}

/// Packets of all sessions, by episode.
fn episodes(folder: &Path) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for file in std::fs::read_dir(logs(folder)).unwrap() {
        for line in std::fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            let packet: Value = serde_json::from_str(line).unwrap();
            let episode = packet["header"]["correlation_id"].as_str().unwrap().to_owned();
            all.entry(episode).or_default().push(packet);
        }
    }
    all
}

fn types(packets: &[Value]) -> Vec<&str> {
    packets.iter().map(|packet| packet["header"]["packet_type"].as_str().unwrap().trim_end_matches("Packet")).collect()
}

const BEGUN: [&str; 5] = ["Observation", "BeliefUpdate", "Decision", "ToolAuthorizationToken", "TaskDirective"];
const ENDED: [&str; 3] = ["TaskResult", "Observation", "BeliefUpdate"];
const REFUSED: [&str; 4] = ["Observation", "BeliefUpdate", "Decision", "BeliefUpdate"];

/// Two sessions at once, one of them of a subagent with a session of its own, each with and without a resident.
#[test]
fn each_call_is_an_episode_and_each_session_a_log() {
    for resident in ["off", "use"] {
        let folder = governed("claude-code");
        let path = folder.path();
        let _resident = (resident == "use").then(|| Resident::start(path, &[], ("OMEN_TEST_NOTHING", "")));
        let [one, other] = ["s1", "s2"].map(|session| Recorded::new("claude-code", path, session, resident));
        assert!(is_allowed(&one.before("t1", "git status")));
        assert!(is_allowed(&other.before("t1", "git log")));
        assert!(!is_allowed(&one.before("t2", "rm x")));
        assert_eq!(one.after("t1", "git status").code, 0);
        assert!(is_allowed(&one.before("t3", "ls")));
        // Its outcome does not come.
        assert!(is_allowed(&one.before("t4", "ls -l")));
        assert_eq!(one.after("t3", "ls").code, 0);
        assert_eq!(other.after("t1", "git log").code, 0);
        // While a call runs, its directive is open.
        assert_eq!(checked(path), (1, vec!["E6".to_owned()]), "{resident}");
        one.end();
        other.end();
        assert_eq!(checked(path), (0, vec![]), "{resident}");
        let all = episodes(path);
        let mut shapes: Vec<_> = all.values().map(|packets| types(packets)).collect();
        shapes.sort();
        let whole = [BEGUN.as_slice(), &ENDED].concat();
        let in_doubt = [BEGUN.as_slice(), &["TaskResult", "BeliefUpdate"]].concat();
        let mut expected = vec![whole.clone(), whole.clone(), whole, in_doubt, REFUSED.to_vec()];
        expected.sort();
        assert_eq!(shapes, expected, "{resident}");
        let campaigns: BTreeSet<_> =
            all.values().flatten().map(|packet| packet["header"]["campaign_id"].to_string()).collect();
        assert_eq!((campaigns.len(), std::fs::read_dir(logs(path)).unwrap().count()), (2, 2), "{resident}");
        // The entries of the audit log name the directive and its episode, with the same turn.
        let log = std::fs::read_to_string(path.join("audit.jsonl")).unwrap();
        let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        for entry in entries.filter(|entry| ["intent", "outcome"].contains(&entry["kind"].as_str().unwrap())) {
            let packets = &all[entry["correlation_id"].as_str().unwrap()];
            let directive = packets.iter().find(|packet| packet["header"]["packet_id"] == entry["packet_id"]).unwrap();
            assert_eq!(directive["header"]["packet_type"], "TaskDirectivePacket");
            assert_eq!(packets[0]["payload"]["data"]["turn"], entry["turn"]);
        }
        assert_eq!(verify(path).code, 0);
    }
}

#[test]
fn what_ran_in_spite_of_the_gate_is_reported_as_a_call_without_a_decision() {
    for agent in Dialect::agents() {
        let folder = governed(agent);
        let path = folder.path();
        let recorded = Recorded::new(agent, path, "s1", "off");
        assert!(!is_allowed(&recorded.before("t1", "rm x")), "{agent}");
        assert_eq!(checked(path), (0, vec![]), "{agent}");
        let ran = recorded.after("t1", "rm x");
        assert!(ran.code == 2 && ran.stderr.contains("although it was denied"), "{agent}: {}", ran.stderr);
        let (code, findings) = checked(path);
        assert!(code == 1 && findings.contains(&"E2".to_owned()), "{agent}: {findings:?}");
        let all = episodes(path);
        let bypass = all.values().find(|packets| types(packets).contains(&"IntegrityAlert")).unwrap();
        let expected = [
            "Observation",
            "BeliefUpdate",
            "Decision",
            "TaskDirective",
            "TaskResult",
            "BeliefUpdate",
            "IntegrityAlert",
        ];
        assert_eq!(types(bypass), expected, "{agent}");
        assert_eq!(bypass.last().unwrap()["payload"]["severity"], "CRITICAL", "{agent}");
        let log = std::fs::read_to_string(path.join("audit.jsonl")).unwrap();
        let entry = log.lines().find(|line| line.contains("\"kind\":\"bypass\"")).unwrap();
        assert!(entry.contains(bypass[0]["header"]["correlation_id"].as_str().unwrap()), "{agent}: {entry}");
        // The next calls are recorded as if nothing had happened.
        assert!(is_allowed(&recorded.before("t2", "ls")), "{agent}");
        assert_eq!(recorded.after("t2", "ls").code, 0, "{agent}");
        assert_eq!(checked(path).1, findings, "{agent}");
    }
}

/// Kills of hooks and residents at random points, and as soon as they record something. At the end of the session, its log has no
/// errors.
#[test]
fn no_kill_leaves_a_log_that_is_not_judged() {
    let kills: usize = Proofs::wanted().choose(51, 300);
    let mut random = fastrand::Rng::with_seed(35);
    let (mut cut, mut repaired) = (0, 0);
    for log in 0..kills.div_ceil(KILLS_A_LOG) {
        let folder = governed("claude-code");
        let path = folder.path();
        let resident = ["off", "use", "use"][log % 3];
        let start = || (resident == "use").then(|| Resident::start(path, &[], ("OMEN_TEST_NOTHING", "")));
        let mut served = start();
        let agent = Recorded::new("claude-code", path, "s1", resident);
        for kill in 0..KILLS_A_LOG {
            let (id, command) = (format!("t{kill}"), format!("git log --skip {kill}"));
            let is_after = random.u8(..3) == 0;
            assert!(!is_after || is_allowed(&agent.before(&id, &command)), "log {log}, kill {kill}");
            let mut hook =
                agent.0.start(&["--episode", "observe"], &agent.0.event(is_after, &id, &command).to_string());
            if random.bool() {
                std::thread::sleep(Duration::from_micros(random.u64(..MOST_MICROS)));
            } else {
                let size = size(path);
                while self::size(path) == size && hook.try_wait().unwrap().is_none() {}
            }
            match &mut served {
                Some(resident) if log % 3 == 2 => {
                    resident.kill();
                    served = start();
                }
                _ => hook.kill().unwrap(),
            }
            let output = hook.wait_with_output().unwrap();
            cut += usize::from(output.status.code() != Some(0));
        }
        drop(served);
        Recorded::new("claude-code", path, "s1", "off").end();
        assert_eq!(checked(path), (0, vec![]), "log {log}: {:?}", std::fs::read_dir(logs(path)));
        repaired += episodes(path).values().filter(|packets| types(packets).contains(&"IntegrityAlert")).count();
        assert_eq!(verify(path).code, 0, "log {log}");
    }
    // The test would prove nothing if no kill had met a hook while it was recording.
    assert!(cut > 0 && repaired > 0, "{cut}, {repaired}");
}

/// Size of the logs of all sessions.
fn size(folder: &Path) -> u64 {
    let logs = std::fs::read_dir(logs(folder)).into_iter().flatten();
    logs.map(|log| log.unwrap().metadata().map_or(0, |file| file.len())).sum()
}

/// Kills in one session.
const KILLS_A_LOG: usize = 17;

/// Longest time from the start of a hook to its kill.
const MOST_MICROS: u64 = 60_000;

#[test]
fn only_observation_is_for_hooks() {
    let folder = governed("claude-code");
    let path = folder.path();
    let event = claude(path, "PreToolUse", "t1", "ls").to_string();
    let refused = [
        hook_with(&["--episode", "enforce"], path, "claude-code", &event),
        run(omen(["hook", "install", "claude-code", "--episode", "enforce"]).env("HOME", path).current_dir(path)),
        run(omen(["hook", "serve", "--episode", "enforce"]).current_dir(path)),
    ];
    for refused in refused {
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
        assert!(refused.stderr.contains("`omen gate proxy --episode enforce`"), "{}", refused.stderr);
    }
    assert!(!path.join(".claude").exists() && !logs(path).exists());
}

#[test]
fn an_episode_that_cannot_be_recorded_stops_no_call_and_is_noted() {
    let folder = governed("claude-code");
    let path = folder.path();
    write(path, "audit.episodes", b"");
    for resident in ["off", "use"] {
        let _resident = (resident == "use").then(|| Resident::start(path, &[], ("OMEN_TEST_NOTHING", "")));
        let agent = Recorded::new("claude-code", path, "s1", resident);
        let allowed = agent.before(resident, "ls");
        assert_eq!((allowed.code, allowed.stdout.as_str()), (0, ""), "{resident}");
        assert!(allowed.stderr.contains("the episodes lack the call: "), "{resident}: {}", allowed.stderr);
        assert_eq!(agent.after(resident, "ls").code, 0, "{resident}");
    }
    assert_eq!(verify(path).code, 0);
}

#[test]
fn the_log_of_episodes_is_guarded_and_a_resident_may_ask_for_it() {
    let folder = governed("claude-code");
    let path = folder.path();
    let _resident = Resident::start(path, &["--episode", "observe"], ("OMEN_TEST_NOTHING", ""));
    let agent = FakeAgent { agent: "claude-code", folder: path, session: "s1".to_owned(), resident: "use" };
    assert!(is_allowed(&agent.before("t1", "ls")));
    assert_eq!(episodes(path).len(), 1);
    for command in ["ls audit.episodes", "ls ./audit.episodes/claude-code-1.jsonl"] {
        let denied = agent.before("t2", command);
        assert!(denied.stdout.contains("belongs to the gate"), "{command}: {}", denied.stdout);
    }
}
