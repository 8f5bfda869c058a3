//! HTTP hooks of Claude Code: denied on any doubt, and never answered with nothing.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};

use super::fake_agent::{Resident, until};
use super::*;

/// Endpoint of a resident: its address and its token.
pub(super) fn endpoint(folder: &Path) -> (String, String) {
    let read = |name: &str| {
        let file = folder.join(".omen-gate").join(name);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::read_to_string(file).unwrap().trim().to_owned()
    };
    until("the address is known", || folder.join(".omen-gate/confirm.hook.url").exists());
    let url = read("confirm.hook.url");
    (url.strip_prefix("http://").unwrap().to_owned(), read("confirm.hook.token"))
}

/// Sends a request with a head and a body, and returns status and body.
fn send(address: &str, head: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("{head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    // A request that is too long is refused before its end.
    let _ = stream.write_all(request.as_bytes());
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response);
    let response = String::from_utf8(response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[test]
fn events_are_answered_to_those_who_know_the_token() {
    let folder = governed("claude-code");
    let path = folder.path();
    let mut resident = Resident::start(path, &["--http"], ("OMEN_TEST_NOTHING", ""));
    let (address, token) = endpoint(path);
    let json = "Content-Type: application/json";
    let at =
        |target: &str| format!("POST {target} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{json}");
    let head = at("/claude-code");
    let post = |event: &Value| send(&address, &head, &event.to_string());
    let call = |event: &str, id: &str, command: &str| post(&claude(path, event, id, command));
    assert_eq!(call("PreToolUse", "t1", "git status"), (200, "{}".to_owned()));
    assert_eq!(call("PostToolUse", "t1", "git status"), (200, "{}".to_owned()));
    let (status, denied) = call("PreToolUse", "t2", "rm x");
    assert!(status == 200 && denied.contains("\"permissionDecision\":\"deny\""), "{denied}");
    assert_eq!(kinds(path), ["decision", "intent", "outcome", "decision"]);
    let settings =
        json!({"session_id": "s1", "cwd": path, "hook_event_name": "ConfigChange", "source": "local_settings"});
    let elsewhere = format!("/claude-code?root={}", folder.path().join("src").display());
    let event = claude(path, "PreToolUse", "t3", "ls").to_string();
    for (status, head, body, why) in [
        (500, head.clone(), settings.to_string(), "cannot change while the gate governs it"),
        (500, head.clone(), claude(path, "PostToolUse", "t2", "rm x").to_string(), "although it was denied"),
        (500, head.clone(), "{".to_owned(), "cannot be read"),
        (500, head.clone(), String::new(), "cannot be read"),
        (413, head.clone(), format!("\"{}\"", "x".repeat(17 << 20)), "exceeds"),
        (401, head.replace(&token, &"0".repeat(token.len())), event.clone(), "wrong bearer token"),
        (401, head.replace("Authorization", "X-Other"), event.clone(), "missing bearer token"),
        (403, head.replace(&address, "evil.example"), event.clone(), "not a name of this server"),
        (403, format!("{head}\r\nOrigin: http://evil.example"), event.clone(), "evil.example"),
        (405, head.replace("POST", "PUT"), event.clone(), "is not supported"),
        (415, head.replace("application/json", "text/plain"), event.clone(), "text/plain"),
        (500, at("/codex"), event.clone(), "only `claude-code` has hooks over HTTP"),
        (500, at("/claude-code?roof=/"), event.clone(), "roof"),
        (500, at("/claude-code?timeout=soon"), event.clone(), "timeout"),
    ] {
        let (found, body) = send(&address, &head, &body);
        assert_eq!(found, status, "{head}: {body}");
        assert!(body.contains(why), "{head}: {body}");
    }
    let (status, denied) = send(&address, &at(&elsewhere), &event);
    assert!(status == 200 && denied.contains("is not below"), "{denied}");
    // Nobody else has had a call decided.
    assert_eq!(kinds(path).iter().filter(|kind| *kind == "intent").count(), 1);
    // The settings of the agent name address and token.
    resident.kill();
    let _next = Resident::start(path, &["--http"], ("OMEN_TEST_NOTHING", ""));
    assert_eq!(endpoint(path), (address.clone(), token.clone()));
    until("it listens again", || TcpStream::connect(&address).is_ok());
    assert_eq!(call("PreToolUse", "t4", "git log"), (200, "{}".to_owned()));
    let names = || std::fs::read_dir(path.join(".omen-gate")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{:?}", names().collect::<Vec<_>>());
}

/// Another port would not be the one in the settings of the agent.
#[test]
fn an_address_that_cannot_be_read_is_not_replaced() {
    let folder = governed("claude-code");
    let path = folder.path();
    let file = path.join(".omen-gate/confirm.hook.url");
    std::fs::DirBuilder::new().mode(0o700).create(file.parent().unwrap()).unwrap();
    for content in ["", "http://127.0.0.1\n"] {
        std::fs::write(&file, content).unwrap();
        let run = run(omen(["hook", "serve", "--http"]).current_dir(path));
        assert_eq!(run.code, 3, "{}", run.stderr);
        assert!(run.stderr.contains("names no port; delete the file, and install the hooks again"), "{}", run.stderr);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
    }
}
