//! `omen lsp`: a language server (LSP 3.17) on the standard streams, for editors.
//!
//! It adds no knowledge: findings come from `check`, edits from `fix`, descriptions from the schema.
//!
//! Architecture invariant: messages are handled one after another, and diagnostics are computed only when no message is waiting.
//! The diagnostics of a version are therefore published before a newer version is known, or not at all.

mod actions;
mod completion;
mod cursor;
mod diagnostics;
mod documents;
mod fields;
mod hover;
mod navigation;
mod packets;
mod protocol;
mod server;
mod settings;
mod text;
mod transport;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Serves an editor until it requests the end or closes standard input.
pub(crate) fn run(out: &mut Output) -> Result<Exit, Failure> {
    server::LanguageServer::new(out).run()
}
