//! Symbolic link resolution.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Reason why a path cannot be resolved. It does not contain the path, which may be the operator's secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkError {
    /// A folder or link on the path cannot be read, or is not a folder.
    Unreadable,
    /// The path has too many links, perhaps in a cycle.
    Links,
    /// The target of a link depends on the process that follows it.
    Process,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "a component of the path cannot be read, or is not a folder",
            Self::Links => "it leads through too many links",
            Self::Process => "a link in the path resolves differently for other processes",
        })
    }
}

enum PathComponent {
    Root(PathBuf),
    Up,
    Down(OsString),
}

/// Resolves an absolute path component by component, as the operating system would now. Components that do not exist
/// have no links: they may be created below those that do. Dangling links are followed too, since a file created
/// through one is created at its target.
pub(super) fn followed(path: &Path) -> Result<PathBuf, LinkError> {
    let (mut at, mut is_file) = (PathBuf::new(), false);
    let (mut ahead, mut links): (VecDeque<PathComponent>, _) = (steps(path).collect(), 0);
    while let Some(step) = ahead.pop_front() {
        let name = match step {
            PathComponent::Root(root) => {
                at = root;
                continue;
            }
            // The operating system rejects `..` after a file.
            PathComponent::Up if is_file => return Err(LinkError::Unreadable),
            PathComponent::Up => {
                // The parent of the root is the root.
                at.pop();
                continue;
            }
            PathComponent::Down(name) => name,
        };
        at.push(name);
        match at.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(LinkError::Links);
                }
                if at.starts_with("/proc") {
                    return Err(LinkError::Process);
                }
                let target = at.read_link().map_err(|_| LinkError::Unreadable)?;
                at.pop();
                for step in steps(&target).collect::<Vec<_>>().into_iter().rev() {
                    ahead.push_front(step);
                }
            }
            Ok(found) => is_file = !found.is_dir(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return Err(LinkError::Unreadable),
        }
    }
    Ok(at)
}

fn steps(path: &Path) -> impl Iterator<Item = PathComponent> + '_ {
    let mut root = PathBuf::new();
    path.components().filter_map(move |component| match component {
        Component::Prefix(_) => {
            root.push(component);
            None
        }
        Component::RootDir => {
            root.push(component);
            Some(PathComponent::Root(root.clone()))
        }
        Component::CurDir => None,
        Component::ParentDir => Some(PathComponent::Up),
        Component::Normal(name) => Some(PathComponent::Down(name.to_owned())),
    })
}

/// Maximum number of links in one path, the same as in Linux.
const MAX_LINKS: usize = 40;
