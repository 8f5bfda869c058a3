//! The parts of the Language Server Protocol 3.17 used here.
//!
//! Written by hand: the protocol's crates depend on an older `bitflags`, and read a message of any announced length into memory.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A position in a document; line and character are counted from 0.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TextPosition {
    pub(super) line: u32,
    pub(super) character: u32,
}

/// A range in a document.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub(super) struct TextRange {
    pub(super) start: TextPosition,
    pub(super) end: TextPosition,
}

/// Parameters of `initialize`, reduced to those used here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeParams {
    #[serde(default)]
    pub(super) capabilities: Value,
    pub(super) root_uri: Option<String>,
    pub(super) workspace_folders: Option<Vec<WorkspaceFolder>>,
}

/// Optional features that the editor supports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClientSupport {
    /// Edits that name the document version they apply to.
    pub(super) document_changes: bool,
    /// Nested symbols.
    pub(super) nested_symbols: bool,
    /// Watching files at the server's request.
    pub(super) watched_files: bool,
}

impl ClientSupport {
    pub(super) fn from_capabilities(capabilities: &Value) -> Self {
        let has = |pointer: &str| capabilities.pointer(pointer).is_some_and(|value| *value == true);
        Self {
            document_changes: has("/workspace/workspaceEdit/documentChanges"),
            nested_symbols: has("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            watched_files: has("/workspace/didChangeWatchedFiles/dynamicRegistration"),
        }
    }
}

/// A folder open in the editor.
#[derive(Debug, Deserialize)]
pub(super) struct WorkspaceFolder {
    pub(super) uri: String,
}

/// Parameters of `workspace/didChangeWorkspaceFolders`.
#[derive(Debug, Deserialize)]
pub(super) struct FoldersParams {
    pub(super) event: FolderChange,
}

/// Added and removed folders.
#[derive(Debug, Deserialize)]
pub(super) struct FolderChange {
    pub(super) added: Vec<WorkspaceFolder>,
    pub(super) removed: Vec<WorkspaceFolder>,
}

/// Parameters of `textDocument/didOpen`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenParams {
    pub(super) text_document: TextDocumentItem,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextDocumentItem {
    pub(super) uri: String,
    #[serde(default)]
    pub(super) language_id: String,
    pub(super) version: i64,
    pub(super) text: String,
}

/// Parameters of `textDocument/didChange`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangeParams {
    pub(super) text_document: VersionedDocument,
    pub(super) content_changes: Vec<ContentChange>,
}

#[derive(Debug, Deserialize)]
pub(super) struct VersionedDocument {
    pub(super) uri: String,
    pub(super) version: i64,
}

/// A change of a range, or of the whole text if there is no range.
#[derive(Debug, Deserialize)]
pub(super) struct ContentChange {
    pub(super) range: Option<TextRange>,
    pub(super) text: String,
}

/// Parameters of a request about a document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentParams {
    pub(super) text_document: DocumentId,
}

/// Identity of a document.
#[derive(Debug, Deserialize)]
pub(super) struct DocumentId {
    pub(super) uri: String,
}

/// Parameters of a request about a position.
#[derive(Debug, Deserialize)]
pub(super) struct PositionParams {
    pub(super) position: TextPosition,
}

/// Parameters of `textDocument/codeAction`.
#[derive(Debug, Deserialize)]
pub(super) struct ActionParams {
    pub(super) range: TextRange,
    pub(super) context: ActionContext,
}

/// Filters and diagnostics of a code action request.
#[derive(Debug, Deserialize)]
pub(super) struct ActionContext {
    #[serde(default)]
    pub(super) diagnostics: Vec<Value>,
    pub(super) only: Option<Vec<String>>,
}

/// Error response to a request.
#[derive(Debug)]
pub(super) struct RequestError {
    pub(super) code: i64,
    pub(super) message: String,
}

impl RequestError {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Creates the error for invalid parameters.
    pub(super) fn params(why: impl std::fmt::Display) -> Self {
        Self::new(INVALID_PARAMS, format!("invalid parameters: {why}"))
    }
}

/// Returns the capabilities that the server announces.
pub(super) fn capabilities(encoding: &str) -> Value {
    json!({
        "positionEncoding": encoding,
        "textDocumentSync": {"openClose": true, "change": INCREMENTAL, "save": true},
        "hoverProvider": true,
        "definitionProvider": true,
        "documentSymbolProvider": true,
        "completionProvider": {"triggerCharacters": ["\""]},
        "codeActionProvider": {"codeActionKinds": [QUICK_FIX, FIX_ALL]},
        "workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}},
    })
}

/// `TextDocumentSyncKind`: changes are sent as ranges.
const INCREMENTAL: u32 = 2;

/// Kind of an action that fixes one finding.
pub(super) const QUICK_FIX: &str = "quickfix";
/// Kind of the action that applies all safe fixes.
pub(super) const FIX_ALL: &str = "source.fixAll.omen";

// Error codes of JSON-RPC and of the Language Server Protocol.
pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const NOT_INITIALIZED: i64 = -32002;
pub(super) const REQUEST_CANCELLED: i64 = -32800;

/// Severities of diagnostics.
pub(super) const ERROR: u32 = 1;
pub(super) const WARNING: u32 = 2;
pub(super) const INFORMATION: u32 = 3;

/// Kinds of completion items.
pub(super) const ITEM_FIELD: u32 = 5;
pub(super) const ITEM_VALUE: u32 = 12;
pub(super) const ITEM_ENUM_MEMBER: u32 = 20;
pub(super) const ITEM_REFERENCE: u32 = 18;

/// Kinds of symbols.
pub(super) const SYMBOL_EPISODE: u32 = 3;
pub(super) const SYMBOL_PACKET: u32 = 19;
