//! PG-3: the operator's rules on the arguments of calls.
//!
//! An `[[allow]]` entry may have a `where` table, which identifies members of the arguments by JSON pointers and states
//! conditions on each. Every rule is checked on every call. Undecidable cases are refused: a missing member, a value of
//! another type, a text that two programs read differently.
//!
//! ```
//! use omen_gate::Config;
//!
//! let errors = Config::parse(r#"
//!     [servers.files]
//!     [[allow]]
//!     server = "files"
//!     tool = "read"
//!     permissions = ["READ"]
//!     where = { "path" = { under = "./data" } }
//! "#).unwrap_err();
//! assert_eq!(errors.0[0].message, "invalid JSON pointer `path`: expected a `/` at its start");
//! assert_eq!(errors.0[0].help, "write `/path`");
//! ```

mod command;
mod length;
mod mask;
mod number;
mod path;
mod pattern;
mod pointer;
mod recorded;
mod rule;
mod rules;
mod rules_test;
mod samples;
mod schema;
mod types;
mod unsatisfiable;
mod url;
mod violation;

pub(crate) use command::{CommandRule, is_runner};
pub(crate) use length::Length;
pub use mask::MASKED;
pub(crate) use mask::has_masked;
pub(crate) use number::is_exact;
pub(crate) use path::FolderRule;
pub(crate) use pattern::{BadPattern, Pattern};
pub(crate) use pointer::RulePointer;
pub(crate) use pointer::is_hidden;
pub(crate) use recorded::KnownNames;
pub use recorded::{ArgumentRecording, Recordable, Recorder};
pub(crate) use rule::{ArgumentTest, Rule};
pub use rules::ArgumentRules;
pub(crate) use rules::RecordedVerdict;
pub(crate) use rules_test::RulesTest;
pub(crate) use samples::samples;
pub use schema::Misfit;
pub(crate) use unsatisfiable::{UnsatisfiableRule, unsatisfiable_rules};
pub(crate) use url::{Host, Urls};
