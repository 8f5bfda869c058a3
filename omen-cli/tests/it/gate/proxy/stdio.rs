//! Kinds of standard streams of the proxy.

use std::io::{Read as _, pipe};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::fs::{OFlags, fcntl_getfl};

use super::*;

const BEGIN: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

fn start(folder: &TempDir, input: impl Into<Stdio>, output: impl Into<Stdio>) -> Child {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    command.args(["gate", "proxy", "--config", "gate.toml", "--no-socket"]).current_dir(folder);
    command.stdin(input).stdout(output).stderr(Stdio::piped()).spawn().expect("omen starts")
}

/// Returns a call whose arguments are longer than any system writes at once.
fn long_call(id: u32) -> String {
    let path = "a".repeat(3 << 20);
    let params = json!({"name": "read_file", "arguments": {"path": path}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// Runs a session with long messages in both directions, and returns the ids of the responses.
fn session(
    mut to: impl std::io::Write + Send + 'static,
    from: impl std::io::Read,
    end: impl FnOnce() + Send + 'static,
) -> Vec<Value> {
    let writer = std::thread::spawn(move || {
        writeln!(to, "{BEGIN}").unwrap();
        (1..4).for_each(|id| writeln!(to, "{}", long_call(id)).unwrap());
        drop(to);
        end();
    });
    let lines = BufReader::new(from).lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut ids: Vec<_> = lines.filter(|line| line.get("method").is_none()).map(|line| line["id"].clone()).collect();
    writer.join().unwrap();
    ids.sort_by_key(Value::to_string);
    ids
}

/// Node starts servers with sockets, whose flags other processes share.
#[test]
fn sockets_are_read_and_written_and_keep_their_flags() {
    let folder = proxied();
    let (input, to) = UnixStream::pair().unwrap();
    let (output, from) = UnixStream::pair().unwrap();
    let ours = [input.try_clone().unwrap(), output.try_clone().unwrap()];
    let proxy = start(&folder, OwnedFd::from(input), OwnedFd::from(output));
    let closing = to.try_clone().unwrap();
    let reader = from.try_clone().unwrap();
    let ended = std::thread::spawn(move || {
        let output = proxy.wait_with_output().unwrap();
        // This test has the other ends open, so closing the proxy's end does not close them.
        from.shutdown(Shutdown::Both).unwrap();
        output
    });
    let ids = session(to, reader, move || closing.shutdown(Shutdown::Write).unwrap());
    assert_eq!(ids, [0, 1, 2, 3].map(Value::from));
    assert!(ended.join().unwrap().status.success());
    assert!(ours.iter().all(|end| !fcntl_getfl(end).unwrap().contains(OFlags::NONBLOCK)));
}

#[test]
fn pipes_are_read_and_written_and_keep_their_flags() {
    let folder = proxied();
    let (input, to) = pipe().unwrap();
    let (from, output) = pipe().unwrap();
    let (ours, theirs) = (input.try_clone().unwrap(), output.try_clone().unwrap());
    let proxy = start(&folder, input, output);
    let ended = std::thread::spawn(move || {
        let output = proxy.wait_with_output().unwrap();
        // While this test has it open, the reader waits for more.
        let flags = fcntl_getfl(&theirs).unwrap();
        drop(theirs);
        (output, flags)
    });
    let ids = session(to, from, || ());
    assert_eq!(ids, [0, 1, 2, 3].map(Value::from));
    let (output, flags) = ended.join().unwrap();
    assert!(output.status.success());
    assert!(!(flags | fcntl_getfl(&ours).unwrap()).contains(OFlags::NONBLOCK));
}

#[test]
fn files_are_read_and_written() {
    let folder = proxied();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    fs::write(&input, format!("{BEGIN}\n{}\n", long_call(1))).unwrap();
    let proxy = start(&folder, fs::File::open(&input).unwrap(), fs::File::create(&output).unwrap());
    assert!(proxy.wait_with_output().unwrap().status.success());
    let mut text = String::new();
    fs::File::open(&output).unwrap().read_to_string(&mut text).unwrap();
    assert!(text.contains("\"serverInfo\""), "{text}");
}
