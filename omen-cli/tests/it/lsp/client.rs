//! A client that knows nothing of the server but the protocol.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command as Process, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::json;

use super::*;

/// A server with its client.
pub(super) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// The notifications that were received while a response was awaited.
    pub(super) notifications: Vec<Value>,
    next_id: u64,
    folder: TempDir,
}

impl Client {
    /// Starts a server that is not initialized, in a folder of its own.
    pub(super) fn start(files: &[(&str, &[u8])]) -> Self {
        let folder = folder(files);
        let mut child = Process::new(env!("CARGO_BIN_EXE_omen"))
            .arg("lsp")
            .current_dir(std::env::temp_dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let mut length = None;
                loop {
                    let mut line = String::new();
                    if stdout.read_line(&mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    match line.trim_end() {
                        "" => break,
                        line => length = length.or(line.strip_prefix("Content-Length: ").map(|n| n.parse().unwrap())),
                    }
                }
                let mut content = vec![0; length.expect("a length")];
                stdout.read_exact(&mut content).unwrap();
                if sender.send(serde_json::from_slice(&content).expect("JSON")).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, messages, notifications: Vec::new(), next_id: 0, folder }
    }

    /// Starts a server with what editors understand.
    pub(super) fn new(files: &[(&str, &[u8])]) -> Self {
        Self::with(
            files,
            json!({
                "textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}},
                "workspace": {"workspaceEdit": {"documentChanges": true}},
            }),
        )
    }

    pub(super) fn with(files: &[(&str, &[u8])], capabilities: Value) -> Self {
        let mut client = Self::start(files);
        let folder = client.uri("");
        let result = client.request(
            "initialize",
            json!({
                "processId": null,
                "workspaceFolders": [{"uri": folder, "name": "x"}],
                "capabilities": capabilities,
            }),
        );
        assert_eq!(result["serverInfo"]["name"], "omen");
        client.notify("initialized", json!({}));
        client
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The URI of a file in the folder.
    pub(super) fn uri(&self, name: &str) -> String {
        format!("file://{}/{name}", self.folder.path().canonicalize().unwrap().display())
            .trim_end_matches('/')
            .to_owned()
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).expect("the server reads");
    }

    pub(super) fn send(&mut self, message: &Value) {
        let content = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{content}", content.len()).as_bytes());
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The next message.
    #[track_caller]
    pub(super) fn receive(&mut self) -> Value {
        match self.messages.recv_timeout(LONG) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("the server is not responding"),
            Err(RecvTimeoutError::Disconnected) => panic!("the server has ended"),
        }
    }

    /// The response to a request with this id.
    #[track_caller]
    pub(super) fn response(&mut self, id: &Value) -> Value {
        loop {
            let message = self.receive();
            if message.get("method").is_none() && message["id"] == *id {
                return message;
            }
            self.notifications.push(message);
        }
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = json!(self.next_id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.response(&id)
    }

    /// The result of a request.
    #[track_caller]
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let response = self.ask(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// The code of the error that a request has.
    #[track_caller]
    pub(super) fn refused(&mut self, method: &str, params: Value) -> i64 {
        let response = self.ask(method, params);
        response["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method}: {response}"))
    }

    /// A request about a place in a document.
    #[track_caller]
    pub(super) fn at(&mut self, method: &str, name: &str, position: &Value) -> Value {
        let uri = self.uri(name);
        self.request(method, json!({"textDocument": {"uri": uri}, "position": position}))
    }

    pub(super) fn open(&mut self, name: &str, text: &str) {
        self.open_as(name, "", text);
    }

    pub(super) fn open_as(&mut self, name: &str, language: &str, text: &str) {
        let uri = self.uri(name);
        let item = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": item}));
    }

    pub(super) fn change(&mut self, name: &str, version: i64, changes: Value) {
        let id = json!({"uri": self.uri(name), "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": id, "contentChanges": changes}));
    }

    /// The next diagnostics that are published, of any document.
    #[track_caller]
    pub(super) fn published(&mut self) -> Value {
        loop {
            let message = if self.notifications.is_empty() { self.receive() } else { self.notifications.remove(0) };
            if message["method"] == "textDocument/publishDiagnostics" {
                return message["params"].clone();
            }
        }
    }

    /// The diagnostics of a version of a document.
    #[track_caller]
    pub(super) fn diagnostics(&mut self, name: &str, version: i64) -> Vec<Value> {
        let uri = self.uri(name);
        loop {
            let published = self.published();
            if published["uri"] == uri && published["version"] == version {
                return published["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    /// Opens a document, and returns its diagnostics.
    #[track_caller]
    pub(super) fn opened(&mut self, name: &str, text: &str) -> Vec<Value> {
        self.open(name, text);
        self.diagnostics(name, 1)
    }

    /// Closes standard input.
    pub(super) fn close(&mut self) {
        self.stdin = None;
    }

    /// The exit code.
    #[track_caller]
    pub(super) fn exit_code(mut self) -> i32 {
        for _ in 0..LONG.as_millis() / 10 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().expect("an exit code");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server goes on");
    }

    /// Ends the server as an editor does.
    #[track_caller]
    pub(super) fn end(mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        assert_eq!(self.exit_code(), 0);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn position(line: usize, character: usize) -> Value {
    json!({"line": line, "character": character})
}

pub(super) fn range(start: &Value, end: &Value) -> Value {
    json!({"start": start, "end": end})
}

/// Each place between characters, with its position in UTF-16. Between the two characters of a line end there is none.
fn places(text: &str) -> impl Iterator<Item = (usize, Value)> {
    let (mut line, mut column) = (0, 0);
    let mut characters = text.char_indices().peekable();
    let inner = std::iter::from_fn(move || {
        loop {
            let (at, character) = characters.next()?;
            let place = (at, position(line, column));
            let next = characters.peek().map(|(_, next)| *next);
            match character {
                '\r' if next == Some('\n') => column += usize::MAX / 2,
                '\r' | '\n' => (line, column) = (line + 1, 0),
                character => column += character.len_utf16(),
            }
            if place.1["character"].as_u64() < Some(u64::MAX / 2) {
                return Some(place);
            }
        }
    });
    inner.chain([(text.len(), end_of(text))])
}

fn end_of(text: &str) -> Value {
    let plain = text.replace("\r\n", "\n").replace('\r', "\n");
    let last = plain.rsplit('\n').next().unwrap_or_default();
    position(plain.matches('\n').count(), last.encode_utf16().count())
}

/// The position of a byte, in UTF-16.
pub(super) fn position_of(text: &str, at: usize) -> Value {
    end_of(&text[..at])
}

/// The byte of a position in UTF-16.
pub(super) fn offset_of(text: &str, wanted: &Value) -> usize {
    let found = places(text).find(|(_, position)| position == wanted);
    found.unwrap_or_else(|| panic!("no place {wanted}")).0
}

/// Applies edits that do not overlap.
pub(super) fn applied(text: &str, edits: &Value) -> String {
    let mut edits: Vec<_> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let [start, end] = ["start", "end"].map(|side| offset_of(text, &edit["range"][side]));
            (start, end, edit["newText"].as_str().unwrap())
        })
        .collect();
    edits.sort();
    let mut text = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}

/// Far more time than an answer takes.
const LONG: Duration = Duration::from_secs(120);
