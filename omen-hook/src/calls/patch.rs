//! Patches in the format of `apply_patch`: file sections between `*** Begin Patch` and `*** End Patch`.

use omen_base::bounded;

/// Change of one file in a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatchedFile {
    pub(crate) path: String,
    /// `add`, `update` or `delete`.
    pub(crate) change: &'static str,
    /// Text of the file's section.
    pub(crate) text: String,
}

/// Reason why a patch cannot be judged file by file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// The patch lacks its first or last line.
    #[error("expected `*** Begin Patch` as the first line and `*** End Patch` as the last")]
    Frame,
    /// A line neither begins a section nor belongs to one.
    #[error("line {line}: expected `*** Add File: `, `*** Update File: ` or `*** Delete File: `, found `{found}`")]
    Line {
        /// Line number, counted from 1.
        line: usize,
        /// Start of the line.
        found: String,
    },
    /// A section names no file, or names it in a form that programs interpret differently.
    #[error("line {0}: expected the path of a file, without surrounding spaces and without control characters")]
    Path(usize),
    /// The patch changes no file.
    #[error("it changes no file")]
    Empty,
    /// The patch changes too many files.
    #[error("it changes more than {MAX_FILES} files")]
    Large,
}

/// Maximum number of files in a patch.
pub(crate) const MAX_FILES: usize = 256;

/// Splits a patch into its files. A moved file counts as one updated and one added.
pub(crate) fn files(patch: &str) -> Result<Vec<PatchedFile>, PatchError> {
    let lines: Vec<_> = patch.trim_end_matches('\n').split('\n').collect();
    let (Some((&BEGIN, rest)), Some(&END)) = (lines.split_first(), lines.last()) else { return Err(PatchError::Frame) };
    let mut files: Vec<PatchedFile> = Vec::new();
    let inner = rest.len().checked_sub(1).and_then(|length| rest.get(..length)).ok_or(PatchError::Frame)?;
    for (number, line) in (2..).zip(inner) {
        let section = SECTIONS.iter().find_map(|(start, change)| Some((line.strip_prefix(start)?, *change)));
        let is_move = section.is_some_and(|(_, change)| change == MOVE);
        match (section, files.last_mut()) {
            (Some((path, change)), _) => {
                if path.trim() != path || path.is_empty() || path.contains(char::is_control) {
                    return Err(PatchError::Path(number));
                }
                if is_move && files.last().is_none_or(|last| last.change != "update") {
                    return Err(unexpected(number, line));
                }
                let change = if is_move { "add" } else { change };
                files.push(PatchedFile { path: path.to_owned(), change, text: format!("{line}\n") });
            }
            // A line that looks like a marker, even if indented, is refused: another reader may accept it as one.
            (None, Some(file)) if *line == END_OF_FILE || !line.trim_start().starts_with("***") => {
                file.text.push_str(line);
                file.text.push('\n');
            }
            (None, _) => return Err(unexpected(number, line)),
        }
        if files.len() > MAX_FILES {
            return Err(PatchError::Large);
        }
    }
    if files.is_empty() { Err(PatchError::Empty) } else { Ok(files) }
}

fn unexpected(line: usize, found: &str) -> PatchError {
    PatchError::Line { line, found: bounded(found.get(..found.floor_char_boundary(40)).unwrap_or_default()) }
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const MOVE: &str = "move";
const SECTIONS: [(&str, &str); 4] = [
    ("*** Add File: ", "add"),
    ("*** Update File: ", "update"),
    ("*** Delete File: ", "delete"),
    ("*** Move to: ", MOVE),
];
