//! A proxy that is restarted on the log of an earlier one.

use super::*;

/// Breakers are in memory: the log states that one was open, and the next process starts with all of them closed (R1).
#[test]
fn r1_a_breaker_is_closed_when_the_proxy_is_started_again() {
    let folder = proxied();
    let path = folder.path().join("gate.toml");
    let text = fs::read_to_string(&path).unwrap() + "[breaker]\nfailures = 2\ncooldown_seconds = 3600\n";
    fs::write(&path, text).unwrap();
    let code = |answer: &Value| answer["result"]["_meta"]["omen/decision"]["code"].as_str().map(str::to_owned);
    let mut client = Client::start(&folder, &[]);
    for id in 1..=2 {
        assert_eq!(code(&client.call(id, "read_file", json!({"path": "malformed"}))).as_deref(), Some("R3"));
    }
    let refused = client.call(3, "read_file", json!({"path": "a"}));
    assert_eq!(code(&refused).as_deref(), Some("R1"), "{refused}");
    assert_eq!(client.close().0, 0);
    let log = fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    assert!(log.contains("\"breaker\":{\"remaining_ms\""), "the log says that it is open: {log}");

    let mut client = Client::start(&folder, &[]);
    let answer = client.call(1, "read_file", json!({"path": "a"}));
    assert_eq!(answer["result"]["content"][0]["text"], "read_file", "{answer}");
    assert_eq!(client.close().0, 0);
}
