//! Programs that break a rule and therefore do not compile, from the tests of the library and the gate.

use std::io::Write as _;

use flate2::read::DeflateDecoder;
use serde::Deserialize;

use super::text::code;
use crate::exit::Failure;
use crate::output::Output;

/// A program that does not compile, as collected by the build script.
#[derive(Deserialize)]
struct IllegalProgram {
    code: String,
    mistake: String,
    illegal: String,
    error: String,
    fix: String,
    fixed: String,
}

/// All cases, as compressed JSON.
static CASES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cases.json.deflate"));

/// Prints the programs of a code. `same` is another code that stands for the same rule.
pub(super) fn print(name: &str, title: &str, same: Option<&str>, out: &mut Output) -> Result<(), Failure> {
    let cases: Vec<IllegalProgram> = serde_json::from_reader(DeflateDecoder::new(CASES))
        .map_err(|error| Failure::Internal(format!("the programs of `omen explain --rust`: {error}")))?;
    let of = |code: &str| cases.iter().filter(|case| case.code == code).count();
    writeln!(out, "{name}: {title}\n")?;
    match (of(name), same.filter(|same| of(same) > 0)) {
        (0, Some(same)) => writeln!(out, "{same} is the same rule: `omen explain {same} --rust` prints its programs.")?,
        (0, None) => writeln!(out, "No program in the tests fails to compile because of this rule.")?,
        (1, _) => writeln!(out, "1 program does not compile because of this rule.")?,
        (count, _) => writeln!(out, "{count} programs do not compile because of this rule.")?,
    }
    let mut cases = cases.iter().filter(|case| case.code == name).peekable();
    if cases.peek().is_some() {
        writeln!(out, "In the errors, `$WORKSPACE`, `$OUT_DIR` and `$N` stand for what differs between machines.")?;
    }
    for (number, case) in (1..).zip(cases) {
        code(out, &format!("Program {number}: {}", case.mistake), &case.illegal)?;
        code(out, "Error", &case.error)?;
        code(out, &format!("Fixed: {}", case.fix), &case.fixed)?;
    }
    Ok(())
}
