//! Programs of `compile-tests/tests/ui` that do not compile, each with rustc's error and a fixed version.
//!
//! The build script embeds them in the command, and `omen-pages` shows them in the docs: both include this file.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// A program that does not compile.
#[derive(Serialize)]
pub(crate) struct Case {
    /// Code of the rule that the program breaks.
    pub(crate) code: String,
    /// Name of the file, without its extension.
    pub(crate) name: String,
    /// Description of the mistake: a phrase without a full stop.
    pub(crate) mistake: String,
    /// The program, without `main`. Its first line, a comment, is kept, since the line numbers of the error count it.
    pub(crate) illegal: String,
    /// Error that rustc reports.
    pub(crate) error: String,
    /// Description of the fix: a phrase without a full stop.
    pub(crate) fix: String,
    /// The fixed program, without its first line and `main`.
    pub(crate) fixed: String,
}

/// Returns the cases in a folder, by name.
///
/// # Errors
/// If a case cannot be read, has no error or no fixed version, or does not begin with `// CODE: mistake -> error`.
pub(crate) fn read(folder: &Path) -> Result<Vec<Case>, Box<dyn Error + Send + Sync>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.sort();
    paths.iter().map(|path| case(folder, path)).collect()
}

fn case(folder: &Path, path: &Path) -> Result<Case, Box<dyn Error + Send + Sync>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let read = |file: String| fs::read_to_string(folder.join(&file)).map_err(|error| format!("{file}: {error}"));
    let (illegal, fixed) = (read(format!("{name}.rs"))?, read(format!("fixed/{name}.rs"))?);
    let (code, mistake) = head(&illegal)
        .and_then(|(code, rest)| Some((code, rest.rsplit_once(" -> ")?.0)))
        .ok_or_else(|| format!("{name}.rs does not begin with `// CODE: mistake -> error`"))?;
    let (_, fix) = head(&fixed).ok_or_else(|| format!("fixed/{name}.rs does not begin with `// CODE: fix`"))?;
    let (_, program) = fixed.split_once('\n').unwrap_or_default();
    Ok(Case {
        code: code.to_owned(),
        mistake: mistake.to_owned(),
        illegal: without_main(&illegal).to_owned(),
        error: read(format!("{name}.stderr"))?.trim_end().to_owned(),
        fix: fix.to_owned(),
        fixed: without_main(program).to_owned(),
        name,
    })
}

/// Returns the code in the first line, and the text after it.
fn head(source: &str) -> Option<(&str, &str)> {
    source.lines().next()?.strip_prefix("// ")?.split_once(": ")
}

fn without_main(source: &str) -> &str {
    let source = source.trim_end();
    source.strip_suffix("fn main() {}").unwrap_or(source).trim_end()
}
