//! Calls that wait for `omen gate confirm` while the agent waits for its hook.

use std::time::{Duration, Instant};

use super::*;

#[test]
fn a_call_waits_for_its_confirmation() {
    let folder = governed("claude-code");
    let path = folder.path();
    let config = std::fs::read_to_string(path.join("gate.toml")).unwrap();
    write(path, "gate.toml", config.replace("pre_granted = true\n", "").as_bytes());
    for (id, is_confirmed) in [("t1", true), ("t2", false)] {
        std::thread::scope(|scope| {
            let event = claude(path, "PreToolUse", id, &format!("git show {id}"));
            let waiting = scope.spawn(move || hook(path, "claude-code", &event));
            let until = Instant::now() + Duration::from_secs(60);
            let question = loop {
                let listed = run(omen(["gate", "confirm", "--list", "--json"]).current_dir(path)).stdout;
                match listed.lines().next() {
                    Some(line) => break serde_json::from_str::<Value>(line).unwrap(),
                    None => assert!(Instant::now() < until && !waiting.is_finished(), "no call waits"),
                }
                std::thread::sleep(Duration::from_millis(20));
            };
            let answer =
                json!({"type": "answer", "id": question["id"], "hash": question["hash"], "confirm": is_confirmed});
            let confirmed =
                run(omen(["gate", "confirm", "--json"]).current_dir(path).write_stdin(format!("{answer}\n")));
            assert_eq!(confirmed.code, 0, "{}", confirmed.stderr);
            let answer = waiting.join().unwrap();
            assert_eq!(is_allowed(&answer), is_confirmed, "{id}: {} {}", answer.stdout, answer.stderr);
        });
    }
    // One was handed over; the other one was not.
    assert_eq!(kinds(path).iter().filter(|kind| *kind == "intent").count(), 1);
}
