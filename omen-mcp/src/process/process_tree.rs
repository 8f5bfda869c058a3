//! Process tree, read from `/proc` on Linux.

use std::collections::HashMap;
use std::io;

use rustix::process::Pid;

pub(super) fn children(of: Pid) -> io::Result<Vec<Pid>> {
    Ok(parents()?.into_iter().filter_map(|(child, parent)| (parent == of).then_some(child)).collect())
}

/// Returns all descendants of a process. A process that has lost a parent in between is not found.
pub(super) fn descendants(of: Pid) -> io::Result<Vec<Pid>> {
    let parents = parents()?;
    let mut found = Vec::new();
    let mut next = vec![of];
    while let Some(process) = next.pop() {
        let before = found.len();
        found.extend(parents.iter().filter_map(|(child, parent)| (*parent == process).then_some(*child)));
        next.extend(found.iter().skip(before));
    }
    Ok(found)
}

fn parents() -> io::Result<HashMap<Pid, Pid>> {
    let mut parents = HashMap::new();
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(process) = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw) else { continue };
        // A process that has ended in between has no parent.
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())) else { continue };
        // The format is `PID (NAME) STATE PARENT …`, and a name may contain any character.
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        if let Some(parent) = parent.and_then(Pid::from_raw) {
            parents.insert(process, parent);
        }
    }
    Ok(parents)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, getpid};

    use super::{children, descendants};

    #[test]
    fn a_child_and_its_child_are_found() {
        let mut child = Command::new("/bin/sh").args(["-c", "read -r x; :"]).stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        assert!(children(getpid()).unwrap().contains(&pid));
        assert!(
            descendants(rustix::process::getppid().unwrap()).unwrap().contains(&pid),
            "it is our parent's grandchild"
        );
        assert!(!descendants(pid).unwrap().contains(&getpid()));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!children(getpid()).unwrap().contains(&pid));
    }
}
