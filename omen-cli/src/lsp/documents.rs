//! The documents that are open in the editor.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use omen::finding::Code;
use url::Url;

use super::protocol::ContentChange;
use super::text::{IndexedText, PositionEncoding};
use crate::config;

/// What a document is to this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentKind {
    /// A log of packets.
    Log,
    /// JSON that may be a log of packets.
    Json,
    /// The configuration of `omen check`.
    CheckConfig,
    GateConfig,
    /// Something else.
    Other,
}

impl DocumentKind {
    fn of(path: &Path, language: &str) -> Self {
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

    /// The longest text that is checked, in bytes.
    pub(super) fn most_bytes(self) -> usize {
        match self {
            Self::Log | Self::Json => MOST_LOG_BYTES,
            Self::CheckConfig => usize::try_from(config::MOST_BYTES).unwrap_or(usize::MAX),
            Self::GateConfig => omen_gate::config::MAX_BYTES,
            Self::Other => 0,
        }
    }
}

/// A finding on a log, by bytes of the text.
#[derive(Debug)]
pub(super) struct PlacedFinding {
    pub(super) range: Range<usize>,
    pub(super) code: Code,
    pub(super) help: Option<String>,
    /// Where the line begins that it follows from.
    pub(super) cause: Option<usize>,
}

#[derive(Debug)]
pub(super) struct OpenDocument {
    pub(super) uri: String,
    /// The path of its file; of one that has no file, a path by which settings are found.
    pub(super) path: PathBuf,
    pub(super) kind: DocumentKind,
    pub(super) version: i64,
    /// `None` if it has become too long to be kept.
    content: Option<IndexedText>,
    /// Whether it has changed since it was checked.
    pub(super) is_due: bool,
    /// The findings of the last check.
    pub(super) findings: Vec<PlacedFinding>,
}

impl OpenDocument {
    pub(super) fn new(uri: String, language: &str, version: i64, text: String, encoding: PositionEncoding) -> Self {
        let path = path(&uri).unwrap_or_else(|| PathBuf::from(uri.rsplit(['/', ':']).next().unwrap_or_default()));
        let kind = DocumentKind::of(&path, language);
        let mut document = Self { uri, path, kind, version, content: None, is_due: true, findings: Vec::new() };
        document.keep(IndexedText::new(text, encoding));
        document
    }

    /// Applies changes, one after the other.
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
                // The text that this is a change of is not known.
                (None, Some(_)) => continue,
            };
            self.keep(kept);
        }
    }

    fn keep(&mut self, text: IndexedText) {
        self.content = (text.as_str().len() <= MOST_KEPT_BYTES).then_some(text);
    }

    /// The text, if it is short enough to be checked.
    pub(super) fn text(&self) -> Option<&IndexedText> {
        self.content.as_ref().filter(|text| text.as_str().len() <= self.kind.most_bytes())
    }

    /// The whole text as it is kept.
    pub(super) fn kept(&self) -> Option<&str> {
        self.content.as_ref().map(IndexedText::as_str)
    }

    /// Whether it may have packets.
    pub(super) fn is_log(&self) -> bool {
        matches!(self.kind, DocumentKind::Log | DocumentKind::Json)
    }
}

/// All open documents by their URIs.
pub(super) type OpenDocuments = BTreeMap<String, OpenDocument>;

/// The path of the file that a URI names.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

/// The language that the extensions in `editors/` give to logs.
const LANGUAGE: &str = "omen-log";

/// The name of the file that the subcommands of `omen gate` read by default.
const GATE_FILE: &str = "gate.toml";

/// The longest log that is checked: 16 MiB, the length of the longest line.
const MOST_LOG_BYTES: usize = omen_types::limits::MAX_LINE_BYTES;

/// The longest text that is kept, so that edits may make it shorter again.
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
            assert_eq!(DocumentKind::of(Path::new(name), language), kind, "{name}");
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

    /// A text that was too long to be kept is known again when it comes as a whole.
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
