//! Calls as episodes, with a clock that can be set.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use omen_base::ManualClock;
use omen_gate::Config;
use omen_gate::audit::Key;
use omen_gate::catalog::pin;
use omen_hook::{Dialect, Hook, HookVerdict};
use serde_json::json;

use crate::samples::{before, read};

/// Hook that allows `touch`, with its folder.
fn hook(folder: &Path, clock: &Arc<ManualClock>) -> Hook {
    let dialect = Dialect::from_agent("opencode").unwrap();
    let tool = dialect.tools().into_iter().find(|tool| tool.name.as_str() == "bash").unwrap();
    let key = folder.join("audit.key");
    if !key.exists() {
        Key::create(&key).unwrap();
    }
    let of_tool = "server = 'opencode'\ntool = 'bash'\npermissions = ['EXECUTE']\n";
    let text = format!(
        "[servers.opencode]\n[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\nsync = false\n\
         [[allow]]\n{of_tool}pin = '{}'\n[[grants]]\n{of_tool}pre_granted = true\n",
        pin(&tool).unwrap()
    );
    let config = Config::parse_as(&text, &folder.join("gate.toml")).unwrap();
    Hook::new(dialect, config).unwrap().clock(Arc::clone(clock) as Arc<_>).episodes()
}

/// An agent that does not report the end of a session: what it never reported is ended with its next call, a day later.
#[tokio::test]
async fn a_call_whose_outcome_never_comes_is_ended_after_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)));
    let mut ended = Vec::new();
    for (number, hours) in [0, 23, 2, 0].into_iter().enumerate() {
        clock.advance(Duration::from_secs(hours * 3600));
        let mut event = before("opencode", &format!("touch {number}"));
        event["cwd"] = json!(folder.path());
        event["sessionID"] = json!(format!("s{number}"));
        event["callID"] = json!(format!("c{number}"));
        let report = hook(folder.path(), &clock).handle(read("opencode", &event.to_string()).unwrap()).await.unwrap();
        assert_eq!(report.not_recorded, None);
        let HookVerdict::Allowed(open) = report.verdict else { panic!("{:?}", report.verdict) };
        open.leave_open();
        let logs = std::fs::read_dir(folder.path().join("audit.episodes")).unwrap();
        let logs = logs.map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap());
        ended.push(logs.filter(|log| log.contains("no outcome within a day")).count());
    }
    assert_eq!(ended, [0, 0, 1, 1]);
}
