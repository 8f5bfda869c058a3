//! `omen lsp`: a server of the Language Server Protocol 3.17 on the standard streams, for editors.
//!
//! It reports nothing of its own: findings come from `check`, edits from `fix`, descriptions from the schema.
//!
//! Architecture invariant: messages are handled one after the other, and diagnostics are computed only when none waits. So the
//! diagnostics of a version are published before a newer version is known, or not at all.

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

/// Serves an editor until it asks for the end or closes standard input.
pub(crate) fn run(out: &mut Output) -> Result<Exit, Failure> {
    server::LanguageServer::new(out).run()
}
