//! Kills of hooks and residents at random points: no error allows a call, and the next session works.

use std::collections::BTreeSet;
use std::time::Duration;

use omen_testkit::proofs::Proofs;

use super::fake_agent::{FakeAgent, Resident};
use super::*;

/// Kills on one log, after which the next one begins.
const KILLS_A_LOG: usize = 10;

/// What is killed while an event is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    /// A hook that decides by itself.
    Alone,
    /// A hook that asks a resident.
    Served,
    Resident,
}

/// Commands of the calls with an intent in the log.
fn intended(folder: &Path) -> BTreeSet<String> {
    let entries = entries(folder).into_iter().filter(|(kind, _)| kind == "intent");
    entries.map(|(_, data)| data["args"]["command"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_kill_allows_a_call_or_breaks_the_next_session() {
    let kills: usize = Proofs::wanted().choose(21, 201);
    let mut random = fastrand::Rng::with_seed(35);
    let (mut cut, mut open) = (0, 0);
    let agents: Vec<_> = Dialect::agents().collect();
    for log in 0..kills.div_ceil(KILLS_A_LOG) {
        let agent = agents[log % agents.len()];
        let folder = governed(agent);
        let path = folder.path();
        let config = std::fs::read_to_string(path.join("gate.toml")).unwrap();
        write(path, "gate.toml", config.replace("sync = false", "sync = false\narguments = 'full'").as_bytes());
        for kill in 0..KILLS_A_LOG {
            let victim = [Victim::Alone, Victim::Served, Victim::Resident][(log + kill) % 3];
            let resident = if victim == Victim::Alone { "off" } else { "use" };
            let session = FakeAgent { agent, folder: path, session: format!("s{kill}"), resident };
            let context = format!("{agent}, log {log}, kill {kill} of {victim:?}");
            let mut served = (victim != Victim::Alone).then(|| Resident::start(path, &[], ("OMEN_TEST_NOTHING", "")));
            // Warm, so that the kill meets the decision and not the start.
            assert!(is_allowed(&session.before("w", &format!("git log -n {kill}"))), "{context}");
            let is_denied = random.u8(..4) == 0;
            let command = format!("{} log --skip {kill}", if is_denied { "rm" } else { "git" });
            let event = session.event(random.bool() && !is_denied, "k", &command).to_string();
            let mut hook = session.start(&[], &event);
            std::thread::sleep(Duration::from_micros(random.u64(..40_000)));
            match (victim, &mut served) {
                (Victim::Resident, Some(resident)) => resident.kill(),
                _ => hook.kill().unwrap(),
            }
            let output = hook.wait_with_output().unwrap();
            let answer = Run {
                code: output.status.code().unwrap_or(-1),
                stdout: String::from_utf8(output.stdout).unwrap(),
                stderr: String::from_utf8(output.stderr).unwrap(),
            };
            cut += usize::from(answer.code == -1 || answer.stderr.contains("`omen hook serve` has failed"));
            let is_before = !event.contains("fter") && !event.contains("ost");
            if is_before && is_allowed(&answer) {
                assert!(!is_denied && intended(path).contains(&command), "{context}: {}", answer.stdout);
            }
            drop(served);
            open += usize::from(intended(path).contains(&command));
            let sound = run(omen(["audit", "verify", "--key-file", "audit.key", "audit.jsonl"]).current_dir(path));
            // The start of a line that a kill has cut off is repaired by the next gate.
            assert!(sound.code == 0 || sound.stdout.contains("repair"), "{context}: {}", sound.stdout);
            let next = FakeAgent { session: format!("n{kill}"), resident: "off", ..session };
            assert!(is_allowed(&next.before("n", &format!("git show {kill}"))), "{context}");
            assert_eq!(next.after("n", &format!("git show {kill}")).code, 0, "{context}");
            assert!(!is_allowed(&next.before("d", "rm x")), "{context}");
            let sound = run(omen(["audit", "verify", "--key-file", "audit.key", "audit.jsonl"]).current_dir(path));
            assert_eq!(sound.code, 0, "{context}: {}", sound.stdout);
        }
    }
    // The test would prove nothing if no kill had hit a decision.
    assert!(cut > 0 && open > 0, "{cut}, {open}");
}
