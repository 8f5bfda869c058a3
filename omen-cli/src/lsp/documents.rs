//! Documents that are open in the editor.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use omen::finding::Code;
use url::Url;

use super::protocol::ContentChange;
use super::text::{IndexedText, PositionEncoding};
use crate::config;

/// Role of a document, which determines how it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentKind {
    /// A log of packets.
    Log,
    /// JSON that may be a log of packets.
    Json,
    /// The configuration of `omen check`.
    CheckConfig,
    GateConfig,
    /// Any other document, which is not checked.
    Other,
}

impl DocumentKind {
    fn from_path(path: &Path, language: &str) -> Self {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            _ if language == LANGUAGE => Self::Log,
            _ if name == config::FILE_NAME => Self::CheckConfig,
            _ if name == GATE_FILE => Self::GateConfig,
            "jsonl" | "ndjson" => Self::Log,
            "json" => Self::Json,
            _ if ["jsonl", "ndjson", "jsonlines"].contains(&language) => Self::Log,
            _ => Self::Other,
        }
    }

    /// Returns the maximum size in bytes of a text to check.
    pub(super) fn most_bytes(self) -> usize {
        match self {
            Self::Log | Self::Json => MOST_LOG_BYTES,
            Self::CheckConfig => usize::try_from(config::MOST_BYTES).unwrap_or(usize::MAX),
            Self::GateConfig => omen_gate::config::MAX_BYTES,
            Self::Other => 0,
        }
    }
}

/// A finding on a log, by its byte range in the text.
#[derive(Debug)]
pub(super) struct PlacedFinding {
    pub(super) range: Range<usize>,
    pub(super) code: Code,
    pub(super) help: Option<String>,
    /// Start of the line that caused the finding.
    pub(super) cause: Option<usize>,
}

#[derive(Debug)]
pub(super) struct OpenDocument {
    pub(super) uri: String,
    /// Path of the file. For a document that is not a file, a path by which its configuration is found.
    pub(super) path: PathBuf,
    pub(super) kind: DocumentKind,
    pub(super) version: i64,
    /// Text; `None` once it has become too long to keep.
    content: Option<IndexedText>,
    /// Whether the document has changed since the last check.
    pub(super) is_due: bool,
    /// Findings of the last check.
    pub(super) findings: Vec<PlacedFinding>,
}

impl OpenDocument {
    pub(super) fn new(uri: String, language: &str, version: i64, text: String, encoding: PositionEncoding) -> Self {
        let path = path(&uri).unwrap_or_else(|| PathBuf::from(uri.rsplit(['/', ':']).next().unwrap_or_default()));
        let kind = DocumentKind::from_path(&path, language);
        let mut document = Self { uri, path, kind, version, content: None, is_due: true, findings: Vec::new() };
        document.keep(IndexedText::new(text, encoding));
        document
    }

    /// Applies changes in order.
    pub(super) fn change(&mut self, version: i64, changes: Vec<ContentChange>, encoding: PositionEncoding) {
        self.version = version;
        self.is_due = true;
        for change in changes {
            let kept = match (self.content.take(), change.range) {
                (Some(mut text), range) => {
                    text.replace(range, &change.text);
                    text
                }
                (None, None) => IndexedText::new(change.text, encoding),
                // The text that this range refers to is unknown.
                (None, Some(_)) => continue,
            };
            self.keep(kept);
        }
    }

    fn keep(&mut self, text: IndexedText) {
        self.content = (text.as_str().len() <= MOST_KEPT_BYTES).then_some(text);
    }

    /// Returns the text if it is short enough to check.
    pub(super) fn text(&self) -> Option<&IndexedText> {
        self.content.as_ref().filter(|text| text.as_str().len() <= self.kind.most_bytes())
    }

    /// Returns the whole text, if it is kept.
    pub(super) fn kept(&self) -> Option<&str> {
        self.content.as_ref().map(IndexedText::as_str)
    }

    /// Returns whether the document may contain packets.
    pub(super) fn is_log(&self) -> bool {
        matches!(self.kind, DocumentKind::Log | DocumentKind::Json)
    }
}

/// Open documents by URI.
pub(super) type OpenDocuments = BTreeMap<String, OpenDocument>;

/// Returns the file path of a `file` URI.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

/// Language id that the extensions in `editors/` assign to logs.
const LANGUAGE: &str = "omen-log";

/// Default file name of a gate's configuration.
const GATE_FILE: &str = "gate.toml";

/// Maximum size of a log to check: 16 MiB, the maximum length of one line.
const MOST_LOG_BYTES: usize = omen_types::limits::MAX_LINE_BYTES;

/// Maximum size of a text to keep. It exceeds the limit for checks, so that edits can make a long text short enough again.
const MOST_KEPT_BYTES: usize = 4 * MOST_LOG_BYTES;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_recognised_by_name_and_language() {
        for (name, language, kind) in [
            ("a.jsonl", "", DocumentKind::Log),
            ("A.NDJSON", "plaintext", DocumentKind::Log),
            ("package.json", "json", DocumentKind::Json),
            ("a.json", LANGUAGE, DocumentKind::Log),
            ("Untitled-1", "jsonl", DocumentKind::Log),
            ("omen.toml", "toml", DocumentKind::CheckConfig),
            ("gate.toml", "toml", DocumentKind::GateConfig),
            ("Cargo.toml", "toml", DocumentKind::Other),
            ("a.rs", "rust", DocumentKind::Other),
            ("", "", DocumentKind::Other),
        ] {
            assert_eq!(DocumentKind::from_path(Path::new(name), language), kind, "{name}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_uri_names_a_path() {
        assert_eq!(path("file:///a%20b/%C3%A9.jsonl"), Some(PathBuf::from("/a b/\u{e9}.jsonl")));
        for other in ["untitled:a.jsonl", "https://a/b.jsonl", "a.jsonl", "", "file:a%"] {
            assert_eq!(path(other).filter(|path| !path.is_absolute()), None, "{other}");
        }
    }

    /// A text that was too long to keep becomes known again once it is sent as a whole.
    #[test]
    fn a_text_that_is_too_long_is_not_kept() {
        let encoding = PositionEncoding::Utf8;
        let long = "x".repeat(MOST_KEPT_BYTES + 1);
        let mut document = OpenDocument::new("file:///a.jsonl".to_owned(), "", 1, long, encoding);
        assert!(document.kept().is_none());
        let change = |range: bool| ContentChange {
            range: range.then(|| serde_json::from_str(RANGE).unwrap_or_else(|error| unreachable!("{error}"))),
            text: "y".to_owned(),
        };
        document.change(2, vec![change(true)], encoding);
        assert!(document.kept().is_none());
        document.change(3, vec![change(false), change(true)], encoding);
        assert_eq!((document.kept(), document.version), (Some("yy"), 3));
    }

    const RANGE: &str = r#"{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}"#;
}
