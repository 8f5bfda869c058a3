//! Where a path leads, behind all links.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Why it is not known where a path leads. It names no place: that may be the operator's secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// A folder or link on the way cannot be read, or is not a folder.
    Unreadable,
    /// There are too many links, perhaps in a circle.
    Links,
    /// A link whose target depends on the process that follows it.
    Process,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "something on the way cannot be read, or is not a folder",
            Self::Links => "there are too many links on the way",
            Self::Process => "a link on the way leads elsewhere for another process",
        })
    }
}

/// One step of a path.
enum Step {
    Root(PathBuf),
    Up,
    Down(OsString),
}

/// Follows an absolute path step by step, as the operating system does, to what it names now. What does not exist has no
/// links: it may be made below what does. A link to something that does not exist is followed, too, for a file that is made
/// through it is made there.
pub(super) fn followed(path: &Path) -> Result<PathBuf, Unknown> {
    let (mut at, mut is_file) = (PathBuf::new(), false);
    let (mut ahead, mut links): (VecDeque<Step>, _) = (steps(path).collect(), 0);
    while let Some(step) = ahead.pop_front() {
        let name = match step {
            Step::Root(root) => {
                at = root;
                continue;
            }
            // What is not a folder has nothing above it, as the system has it.
            Step::Up if is_file => return Err(Unknown::Unreadable),
            Step::Up => {
                // Above the root is the root.
                at.pop();
                continue;
            }
            Step::Down(name) => name,
        };
        at.push(name);
        match at.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Unknown::Links);
                }
                if at.starts_with("/proc") {
                    return Err(Unknown::Process);
                }
                let target = at.read_link().map_err(|_| Unknown::Unreadable)?;
                at.pop();
                for step in steps(&target).collect::<Vec<_>>().into_iter().rev() {
                    ahead.push_front(step);
                }
            }
            Ok(found) => is_file = !found.is_dir(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return Err(Unknown::Unreadable),
        }
    }
    Ok(at)
}

fn steps(path: &Path) -> impl Iterator<Item = Step> + '_ {
    let mut root = PathBuf::new();
    path.components().filter_map(move |component| match component {
        Component::Prefix(_) => {
            root.push(component);
            None
        }
        Component::RootDir => {
            root.push(component);
            Some(Step::Root(root.clone()))
        }
        Component::CurDir => None,
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
    })
}

/// As many as Linux follows.
const MAX_LINKS: usize = 40;
