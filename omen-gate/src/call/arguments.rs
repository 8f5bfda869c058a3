//! PG-3: what the operator allows a tool to be called with: rules on the arguments of a call.
//!
//! An entry of `[[allow]]` may have a table `where`, which names members of the arguments by JSON pointers and says what
//! each of them has to be. Every rule is judged on every call. What cannot be decided is refused: a member that is
//! missing, a value of another type, a text that two programs read in two ways.
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

mod broken;
mod length;
mod mask;
mod number;
mod path;
mod pattern;
mod place;
mod recorded;
mod rule;
mod rules;
mod schema;
mod sense;
mod types;
mod url;

pub(crate) use length::Length;
pub use mask::MASKED;
pub(crate) use mask::has_masked;
pub(crate) use number::is_exact;
pub(crate) use path::Under;
pub(crate) use pattern::{BadPattern, Pattern};
pub(crate) use place::Place;
pub(crate) use recorded::Known;
pub use recorded::{Recordable, Recorded, Recorder};
pub(crate) use rule::{Rule, Test};
pub use rules::ArgumentRules;
pub(crate) use rules::Judged;
pub use schema::Misfit;
pub(crate) use sense::{Nonsense, nonsense};
pub(crate) use url::{Host, Urls};
