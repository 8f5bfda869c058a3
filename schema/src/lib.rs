//! The OMEN v0.7 protocol as data.
//!
//! The JSON files of this package are the only source of every protocol fact: packet schemas (JSON Schema 2020-12), the
//! state machine with its events, transition rows and sequence rules (`episode.fsm.json`), the invariants
//! (`rules.json`), and the codes and steps of the tool boundary (`gate.json`). In addition, they state facts about
//! other programs: the hooks of coding agents (`hooks/`), and programs that run other programs (`shell/`). The
//! dependent crates are generated from these files or tested against them.
//!
//! ```
//! let (path, text) = omen_schema::FILES[0];
//! assert!(path.ends_with(".json") && text.starts_with('{'));
//! ```
//!
//! The package also provides three tools for reading JSON, at build time or later: the scanner [`mod@json`],
//! [`mod@pointer`] and [`suggest`].
//!
//! Architecture invariant: this package knows no Rust types of the protocol.

pub mod json;
pub mod pointer;
pub mod suggest;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Returns the text of a schema file, by its path under `v0.7/`.
#[must_use]
pub fn file(path: &str) -> Option<&'static str> {
    lookup(FILES, path)
}

/// Programs that run other programs, and the options that make other programs do so, as JSON, for rules on shell commands.
///
/// `runners` are programs whose arguments or input are commands, and the parts of shells that evaluate commands: no
/// rule on programs can hold for what they run. `aliases` are other names of programs. The programs in `subcommands`
/// may run only these subcommands, after no arguments other than these `options`: any other name may be an alias or a
/// separate program. `options` lists the refused arguments of other programs, by program, or by program and subcommand:
///
/// | Entry | Refused arguments |
/// |---|---|
/// | `--long` | the option, even abbreviated or with a value after `=`; for the programs in `one_dash`, also with one dash |
/// | `-long` | the option with one or two dashes, even with a value after `=` |
/// | `-l` | the letter, even among others after one dash; without a dash in the first argument of the programs in `dashless` |
/// | `=` | an argument with `=` that does not begin with a dash |
/// | `+` | an argument that begins with a plus sign |
/// | other | the argument itself |
pub const PROGRAMS: &str = include_str!("../shell/programs.json");

/// Returns the dialect of a coding agent's hooks, by the agent's name.
#[must_use]
pub fn hooks(agent: &str) -> Option<&'static str> {
    lookup(HOOKS, &format!("{agent}.json"))
}

/// Returns the text of an example file, by its path under `examples/`.
#[must_use]
pub fn example(path: &str) -> Option<&'static str> {
    lookup(EXAMPLES, path)
}

fn lookup(files: &'static [(&'static str, &'static str)], path: &str) -> Option<&'static str> {
    let at = files.binary_search_by_key(&path, |(path, _)| path).ok()?;
    files.get(at).map(|(_, text)| *text)
}
