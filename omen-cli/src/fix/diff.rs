//! Changes of a log as a unified diff for `patch` and `git apply`.
//!
//! Hand-written: libraries compare two texts in memory, while the changed lines are known here.

use std::collections::VecDeque;
use std::env;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read as _, Write as _};
use std::path::{Component, Path};

use omen::render::human::clean;

use super::rewrite::Rewritten;
use crate::input;
use crate::input::find::absolute;
use crate::output::Output;

/// The reason why a log is not fixed.
pub(super) enum FixError {
    /// The log cannot be read.
    Read(io::Error),
    /// The log has a format that is not written.
    Refused(&'static str),
    /// Standard output or the file cannot be written.
    Write(io::Error),
}

impl From<io::Error> for FixError {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// Prints the changes of a log.
pub(super) fn print(path: &Path, file: File, rewritten: &Rewritten, out: &mut Output) -> Result<(), FixError> {
    let mut diff =
        Diff { out, is_terminal: io::stdout().is_terminal(), hunk: None, before: VecDeque::new(), left_out: 0 };
    diff.write(format_args!("{}", header(Some(path), Some(path))))?;
    let mut reader = BufReader::new(file);
    let mut number = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        number += 1;
        if reader.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.len() as u64 == LONGEST && !line.ends_with(b"\n") {
            return Err(FixError::Refused("it has a line that is too long to be printed; `--fix` leaves it as it is"));
        }
        diff.line(number, &line, rewritten.line(number))?;
    }
    diff.end()
}

/// Returns the lines of a diff that name its file before and after; `None` if it does not exist there.
pub(crate) fn header(old: Option<&Path>, new: Option<&Path>) -> String {
    let side = |path: Option<&Path>, side: &[u8]| {
        path.map_or_else(|| "/dev/null".to_owned(), |path| quoted(&[side, &*name(path)].concat()))
    };
    format!("--- {}\n+++ {}\n", side(old, b"a/"), side(new, b"b/"))
}

struct Diff<'o> {
    out: &'o mut Output,
    is_terminal: bool,
    hunk: Option<Hunk>,
    /// Last unchanged lines.
    before: VecDeque<Vec<u8>>,
    /// Number of lines that were removed so far.
    left_out: u64,
}

/// Changes that are close together.
#[derive(Default)]
struct Hunk {
    /// First line in the old log, and the number of lines removed before it.
    start: u64,
    left_out: u64,
    old: u64,
    new: u64,
    /// Lines, each with its mark.
    lines: Vec<Vec<u8>>,
    /// Number of unchanged lines at its end.
    same: usize,
}

impl Hunk {
    fn push(&mut self, mark: u8, line: &[u8]) {
        let end: &[u8] = if line.ends_with(b"\n") { b"" } else { b"\n\\ No newline at end of file\n" };
        self.lines.push([&[mark], line, end].concat());
        self.old += u64::from(mark != b'+');
        self.new += u64::from(mark != b'-');
        self.same = if mark == b' ' { self.same + 1 } else { 0 };
    }
}

impl Diff<'_> {
    fn line(&mut self, number: u64, line: &[u8], rewritten: Option<&str>) -> Result<(), FixError> {
        let Some(rewritten) = rewritten else {
            if let Some(hunk) = &mut self.hunk {
                hunk.push(b' ', line);
                return if hunk.same < 2 * CONTEXT { Ok(()) } else { self.end() };
            }
            self.before.push_back(line.to_vec());
            if self.before.len() > CONTEXT {
                self.before.pop_front();
            }
            return Ok(());
        };
        let hunk = self.hunk.get_or_insert_with(|| {
            let start = number - self.before.len() as u64;
            let mut hunk = Hunk { start, left_out: self.left_out, ..Hunk::default() };
            self.before.drain(..).for_each(|line| hunk.push(b' ', &line));
            hunk
        });
        hunk.push(b'-', line);
        if rewritten.is_empty() {
            self.left_out += 1;
            return Ok(());
        }
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let end = line.get(content.strip_suffix(b"\r").unwrap_or(content).len()..).unwrap_or_default();
        let mark = if number == 1 && line.starts_with(input::MARK) { input::MARK } else { b"" };
        hunk.push(b'+', &[mark, rewritten.as_bytes(), end].concat());
        Ok(())
    }

    /// Prints the changes so far. The lines after them become the context of the next.
    fn end(&mut self) -> Result<(), FixError> {
        let Some(Hunk { start, left_out, old, new, mut lines, same }) = self.hunk.take() else { return Ok(()) };
        let beyond = same.saturating_sub(CONTEXT);
        let after = lines.split_off(lines.len() - beyond);
        self.before = after.iter().map(|line| line.get(1..).unwrap_or_default().to_vec()).collect();
        let (old, new) = (old - beyond as u64, new - beyond as u64);
        // A side without lines is identified by the line before it.
        let at = |start: u64, count: u64| if count == 0 { start - 1 } else { start };
        self.write(format_args!("@@ -{},{old} +{},{new} @@\n", at(start, old), at(start - left_out, new)))?;
        for line in lines {
            if self.is_terminal {
                let line = String::from_utf8_lossy(&line);
                self.write(format_args!("{}\n", clean(line.trim_end_matches('\n'))))?;
            } else {
                self.out.write_all(&line).map_err(FixError::Write)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) -> Result<(), FixError> {
        self.out.write_fmt(text).map_err(FixError::Write)
    }
}

/// Returns the name of a log in a diff, below the working folder or else the root: programs refuse absolute names and `..`.
fn name(path: &Path) -> Vec<u8> {
    let path = absolute(path);
    let folder = env::current_dir().unwrap_or_default();
    let below = path.strip_prefix(&folder).unwrap_or(&path);
    let parts = below.components().filter(|part| matches!(part, Component::Normal(_)));
    parts.map(|part| part.as_os_str().as_encoded_bytes()).collect::<Vec<_>>().join(&b'/')
}

/// Writes a name as git does: in quotes if it has other characters than printable ASCII, and with a tab at its end if it has
/// spaces, before which programs would end it.
fn quoted(name: &[u8]) -> String {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && !b"\"\\".contains(byte);
    if name.iter().all(is_plain) {
        let end = if name.contains(&b' ') { "\t" } else { "" };
        return format!("{}{end}", String::from_utf8_lossy(name));
    }
    let mut text = String::from("\"");
    for byte in name {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            plain if is_plain(plain) => text.push(char::from(*plain)),
            other => text.push_str(&format!("\\{other:03o}")),
        }
    }
    text + "\""
}

/// Number of context lines around changes.
const CONTEXT: usize = 3;

/// Maximum length of a printed line: 64 MiB.
const LONGEST: u64 = 64 * 1024 * 1024;
