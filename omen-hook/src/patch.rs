//! Patches in the form of `apply_patch`: sections of files between `*** Begin Patch` and `*** End Patch`.

use omen_base::bounded::bounded;

/// Change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatchedFile {
    pub(crate) path: String,
    /// `add`, `update` or `delete`.
    pub(crate) change: &'static str,
    /// Section of the patch.
    pub(crate) text: String,
}

/// Reason why a patch cannot be judged file by file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// The patch lacks its first or its last line.
    #[error("expected `*** Begin Patch` as the first line and `*** End Patch` as the last")]
    Frame,
    /// A line begins no section, and belongs to none.
    #[error("line {line}: expected `*** Add File: `, `*** Update File: ` or `*** Delete File: `, found `{found}`")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// Start of the line.
        found: String,
    },
    /// A section names no file, or a file in a form that programs read differently.
    #[error("line {0}: expected the path of a file, without blanks around it and without control characters")]
    Path(usize),
    /// The patch changes no file.
    #[error("it changes no file")]
    Empty,
    /// The patch changes too many files.
    #[error("it changes more than {MAX_FILES} files")]
    Large,
}

/// Most files of one patch.
pub(crate) const MAX_FILES: usize = 256;

/// Files that a patch changes. A file that is moved is one that is updated and one that is added.
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
            // Another reader may accept as a marker what this one does not, even with blanks before it.
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
