//! The server loop: processes messages one after another, and responds to them.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, sync_channel};
use std::{io, thread};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::documents::{self, OpenDocument, OpenDocuments};
use super::protocol::{
    ActionParams, ChangeParams, ClientSupport, DocumentParams, FoldersParams, INVALID_REQUEST, InitializeParams,
    METHOD_NOT_FOUND, NOT_INITIALIZED, OpenParams, PARSE_ERROR, PositionParams, REQUEST_CANCELLED, RequestError,
    WorkspaceFolder, capabilities,
};
use super::settings::CheckSettings;
use super::text::PositionEncoding;
use super::transport::{self, InputFrame};
use super::{actions, completion, diagnostics, hover, navigation};
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerPhase {
    /// Before `initialize`.
    Starting,
    Serving,
    /// After `shutdown`.
    Stopping,
}

/// Serves one editor.
pub(super) struct LanguageServer<'o> {
    out: &'o mut Output,
    inbox: Inbox,
    phase: ServerPhase,
    encoding: PositionEncoding,
    client: ClientSupport,
    documents: OpenDocuments,
    settings: CheckSettings,
}

impl<'o> LanguageServer<'o> {
    pub(super) fn new(out: &'o mut Output) -> Self {
        Self {
            out,
            inbox: Inbox::new(),
            phase: ServerPhase::Starting,
            encoding: PositionEncoding::default(),
            client: ClientSupport::default(),
            documents: OpenDocuments::new(),
            settings: CheckSettings::default(),
        }
    }

    /// Serves until `exit`, or the end of standard input.
    pub(super) fn run(mut self) -> Result<Exit, Failure> {
        loop {
            let frame = match self.inbox.next() {
                Some(frame) => frame,
                // No message is waiting, so there is time for a check.
                None => match self.due() {
                    Some(uri) => {
                        self.check(&uri)?;
                        continue;
                    }
                    None => match self.inbox.wait() {
                        Some(frame) => frame,
                        None => return Ok(self.end()),
                    },
                },
            };
            match frame {
                Ok(InputFrame::Message(message)) => {
                    if self.take(message)? {
                        return Ok(self.end());
                    }
                }
                Ok(InputFrame::Malformed(why)) => {
                    self.fail(&Value::Null, &RequestError::new(PARSE_ERROR, format!("invalid JSON: {why}")))?;
                }
                Ok(InputFrame::Oversize(length)) => {
                    let message = format!("the message has {length} bytes and was not read");
                    self.fail(&Value::Null, &RequestError::new(INVALID_REQUEST, message))?;
                }
                // The start of the next message is unknown, so the session cannot continue.
                Err(error) => {
                    complain(&error);
                    self.fail(&Value::Null, &RequestError::new(PARSE_ERROR, error.to_string()))?;
                    return Ok(Exit::ErrorsFound);
                }
            }
        }
    }

    /// Returns the exit code: the protocol requires 1 if there was no `shutdown` before the end.
    fn end(&self) -> Exit {
        if self.phase == ServerPhase::Stopping { Exit::Clean } else { Exit::ErrorsFound }
    }

    /// Processes a message, and returns whether it was the last one.
    fn take(&mut self, mut message: Value) -> io::Result<bool> {
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let id = message.get_mut("id").map(Value::take);
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        match (method, id) {
            (Some(method), Some(id)) if id.is_number() || id.is_string() => {
                let is_cancelled = self
                    .inbox
                    .has(|next| is_method(next, &["$/cancelRequest"]) && next.pointer("/params/id") == Some(&id));
                let result = if is_cancelled {
                    Err(RequestError::new(REQUEST_CANCELLED, "cancelled"))
                } else {
                    self.request(&method, params)?
                };
                match result {
                    Ok(result) => self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))?,
                    Err(error) => self.fail(&id, &error)?,
                }
            }
            (Some(method), None) if method == "exit" => return Ok(true),
            (Some(method), None) => {
                if let Err(error) = self.notification(&method, params)? {
                    let text = format!("{method}: {}", error.message);
                    let params = json!({"type": 1, "message": text});
                    self.send(&json!({"jsonrpc": "2.0", "method": "window/logMessage", "params": params}))?;
                }
            }
            // A response to a request from this server needs no action.
            (None, Some(id))
                if !id.is_null() && (message.get("result").is_some() || message.get("error").is_some()) => {}
            (_, id) => {
                let id = id.filter(|id| id.is_number() || id.is_string()).unwrap_or_default();
                self.fail(&id, &RequestError::new(INVALID_REQUEST, "expected a request or a notification"))?;
            }
        }
        Ok(false)
    }

    /// Handles a request. The outer error is a failure to write the output.
    fn request(&mut self, method: &str, params: Value) -> io::Result<Result<Value, RequestError>> {
        Ok(match (self.phase, method) {
            (ServerPhase::Starting, "initialize") => self.initialize(params),
            (ServerPhase::Starting, _) => Err(RequestError::new(NOT_INITIALIZED, "expected `initialize` first")),
            (ServerPhase::Stopping, _) => Err(RequestError::new(INVALID_REQUEST, "the server is shut down")),
            (ServerPhase::Serving, "initialize") => {
                Err(RequestError::new(INVALID_REQUEST, "the server is already initialized"))
            }
            (ServerPhase::Serving, "shutdown") => {
                self.phase = ServerPhase::Stopping;
                Ok(Value::Null)
            }
            (ServerPhase::Serving, method) => return self.about_document(method, params),
        })
    }

    fn about_document(&mut self, method: &str, params: Value) -> io::Result<Result<Value, RequestError>> {
        if !DOCUMENT_METHODS.contains(&method) {
            return Ok(Err(RequestError::new(METHOD_NOT_FOUND, format!("unknown method `{method}`"))));
        }
        let uri = match parse::<DocumentParams>(&params) {
            Ok(about) => about.text_document.uri,
            Err(error) => return Ok(Err(error)),
        };
        if self.documents.get(&uri).is_some_and(|document| document.is_due) && NEED_FINDINGS.contains(&method) {
            self.check(&uri)?;
        }
        Ok(self.document_result(method, &uri, &params))
    }

    fn document_result(&mut self, method: &str, uri: &str, params: &Value) -> Result<Value, RequestError> {
        let Some(document) = self.documents.get(uri) else {
            return Err(RequestError::params(format_args!("the document `{uri}` is not open")));
        };
        if method == VIEW_TEXT {
            return Ok(document.kept().map_or(Value::Null, Value::from));
        }
        let Some(text) = document.text().filter(|_| document.is_log()) else { return Ok(Value::Null) };
        let Ok(check) = self.settings.check(&document.path) else { return Ok(Value::Null) };
        let layout = check.layout();
        let offset = || parse::<PositionParams>(params).map(|params| text.offset(params.position));
        Ok(match method {
            "textDocument/hover" => hover::hover(document, text, layout, offset()?).unwrap_or_default(),
            "textDocument/completion" => completion::complete(text, layout, offset()?).unwrap_or_default(),
            "textDocument/definition" => navigation::definition(document, text, layout, offset()?).unwrap_or_default(),
            "textDocument/codeAction" => {
                let params: ActionParams = parse(params)?;
                actions::actions(document, text, check, &params, self.client).into()
            }
            _ => navigation::symbols(document, text, layout, self.client),
        })
    }

    fn initialize(&mut self, params: Value) -> Result<Value, RequestError> {
        let params: InitializeParams = parse(&params)?;
        self.client = ClientSupport::from_capabilities(&params.capabilities);
        let offered = params.capabilities.pointer("/general/positionEncodings").and_then(Value::as_array);
        let utf8 = PositionEncoding::Utf8;
        if offered.is_some_and(|offered| offered.iter().any(|one| *one == utf8.as_str())) {
            self.encoding = utf8;
        }
        let root = params.root_uri.map(|uri| vec![WorkspaceFolder { uri }]);
        let folders = params.workspace_folders.filter(|folders| !folders.is_empty()).or(root).unwrap_or_default();
        self.settings.folders = folders.iter().filter_map(|folder| documents::path(&folder.uri)).collect();
        self.phase = ServerPhase::Serving;
        Ok(json!({
            "capabilities": capabilities(self.encoding.as_str()),
            "serverInfo": {"name": "omen", "version": env!("CARGO_PKG_VERSION")},
        }))
    }

    /// Handles a notification. The outer error concerns the output. Unknown notifications are ignored, as the protocol requires.
    fn notification(&mut self, method: &str, params: Value) -> io::Result<Result<(), RequestError>> {
        if self.phase != ServerPhase::Serving {
            return Ok(Ok(()));
        }
        Ok(match method {
            "initialized" => {
                self.watch_files()?;
                Ok(())
            }
            "textDocument/didOpen" => parse::<OpenParams>(&params).map(|OpenParams { text_document: item }| {
                let document = OpenDocument::new(item.uri, &item.language_id, item.version, item.text, self.encoding);
                self.documents.insert(document.uri.clone(), document);
            }),
            "textDocument/didChange" => parse::<ChangeParams>(&params).and_then(|params| {
                let uri = params.text_document.uri;
                let Some(document) = self.documents.get_mut(&uri) else {
                    return Err(RequestError::params(format_args!("the document `{uri}` is not open")));
                };
                document.change(params.text_document.version, params.content_changes, self.encoding);
                Ok(())
            }),
            "textDocument/didClose" => match parse::<DocumentParams>(&params) {
                Ok(params) => {
                    let uri = params.text_document.uri;
                    self.documents.remove(&uri);
                    self.publish(&json!({"uri": uri, "diagnostics": []}))?;
                    Ok(())
                }
                Err(error) => Err(error),
            },
            // A configuration, or a file that it names, may have changed.
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" | "workspace/didChangeConfiguration" => {
                self.documents.values_mut().for_each(|document| document.is_due = true);
                Ok(())
            }
            "workspace/didChangeWorkspaceFolders" => parse::<FoldersParams>(&params).map(|params| {
                let paths = |folders: &[WorkspaceFolder]| -> Vec<_> {
                    folders.iter().filter_map(|folder| documents::path(&folder.uri)).collect()
                };
                let removed = paths(&params.event.removed);
                self.settings.folders.retain(|folder| !removed.contains(folder));
                self.settings.folders.extend(paths(&params.event.added));
                self.documents.values_mut().for_each(|document| document.is_due = true);
            }),
            _ => Ok(()),
        })
    }

    /// Asks the editor to report changes to configuration files that are not open in it.
    fn watch_files(&mut self) -> io::Result<()> {
        if !self.client.watched_files {
            return Ok(());
        }
        let watchers = json!([{"globPattern": "**/omen.toml"}]);
        let registration = json!({
            "id": "configurations",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": {"watchers": watchers},
        });
        self.send(&json!({
            "jsonrpc": "2.0",
            "id": "watch",
            "method": "client/registerCapability",
            "params": {"registrations": [registration]},
        }))
    }

    /// Returns a document that has changed since its last check.
    fn due(&self) -> Option<String> {
        self.documents.values().find(|document| document.is_due).map(|document| document.uri.clone())
    }

    /// Checks a document and publishes the findings, unless a newer version has arrived meanwhile.
    fn check(&mut self, uri: &str) -> io::Result<()> {
        let Some(document) = self.documents.get_mut(uri) else { return Ok(()) };
        let found = diagnostics::check(document, &mut self.settings);
        document.findings = found.findings;
        let is_newer = |message: &Value| {
            is_method(message, &["textDocument/didChange", "textDocument/didClose"])
                && message.pointer("/params/textDocument/uri").is_some_and(|changed| changed == uri)
        };
        if self.inbox.has(is_newer) {
            return Ok(());
        }
        document.is_due = false;
        let params = json!({"uri": uri, "version": document.version, "diagnostics": found.diagnostics});
        self.publish(&params)
    }

    fn publish(&mut self, params: &Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params}))
    }

    fn fail(&mut self, id: &Value, error: &RequestError) -> io::Result<()> {
        let error = json!({"code": error.code, "message": error.message});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        transport::write(self.out, message)
    }
}

fn is_method(message: &Value, methods: &[&str]) -> bool {
    message.get("method").and_then(Value::as_str).is_some_and(|method| methods.contains(&method))
}

/// Parses the parameters of a message.
fn parse<T: DeserializeOwned>(params: &Value) -> Result<T, RequestError> {
    T::deserialize(params).map_err(RequestError::params)
}

/// Request for a document's text as the server knows it, to debug differences from what the editor shows.
const VIEW_TEXT: &str = "omen/viewFileText";

/// Requests about a document.
const DOCUMENT_METHODS: &[&str] = &[
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/documentSymbol",
    "textDocument/codeAction",
    VIEW_TEXT,
];

/// Requests about a document whose results depend on its findings.
const NEED_FINDINGS: &[&str] = &["textDocument/hover", "textDocument/definition", "textDocument/codeAction"];

/// Messages from standard input, read ahead by a thread.
struct Inbox {
    receiver: Receiver<io::Result<InputFrame>>,
    waiting: VecDeque<io::Result<InputFrame>>,
}

impl Inbox {
    fn new() -> Self {
        let (sender, receiver) = sync_channel(MOST_WAITING);
        thread::spawn(move || {
            let mut input = io::stdin().lock();
            loop {
                let frame = match transport::read(&mut input) {
                    Ok(Some(frame)) => Ok(frame),
                    Ok(None) => return,
                    Err(error) => Err(error),
                };
                let is_end = frame.is_err();
                // A missing receiver means that the process is about to end.
                if sender.send(frame).is_err() || is_end {
                    return;
                }
            }
        });
        Self { receiver, waiting: VecDeque::new() }
    }

    /// Returns the next message, if one has arrived.
    fn next(&mut self) -> Option<io::Result<InputFrame>> {
        self.collect();
        self.waiting.pop_front()
    }

    /// Waits for the next message; returns `None` at the end of standard input.
    fn wait(&mut self) -> Option<io::Result<InputFrame>> {
        self.next().or_else(|| self.receiver.recv().ok())
    }

    /// Returns whether any waiting message has a property.
    fn has(&mut self, property: impl Fn(&Value) -> bool) -> bool {
        self.collect();
        self.waiting.iter().any(|frame| matches!(frame, Ok(InputFrame::Message(message)) if property(message)))
    }

    fn collect(&mut self) {
        while self.waiting.len() < MOST_WAITING
            && let Ok(frame) = self.receiver.try_recv()
        {
            self.waiting.push_back(frame);
        }
    }
}

/// Maximum number of messages read ahead; beyond that, the editor must wait.
const MOST_WAITING: usize = 64;
