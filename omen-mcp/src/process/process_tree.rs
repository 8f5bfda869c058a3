//! Process tree: a process and all that it has started, which are killed together.

#[cfg(target_os = "linux")]
use std::collections::HashMap;
#[cfg(target_os = "linux")]
use std::io;

#[cfg(target_os = "linux")]
use rustix::process::Pid;
use tokio::process::Child;

/// Process and everything that it has started, which are killed when this is dropped, e.g. because the runtime ends.
#[derive(Debug)]
pub(super) struct ProcessTree {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
    pub(super) is_guard: bool,
    pub(super) has_ended: bool,
}

impl ProcessTree {
    #[cfg(unix)]
    pub(super) fn new(child: &Child, is_guard: bool) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self { leader, is_guard, has_ended: false }
    }

    /// Creates the tree. On other systems, only the process itself is killed.
    #[cfg(not(unix))]
    pub(super) fn new(_: &Child, is_guard: bool) -> Self {
        Self { is_guard, has_ended: false }
    }
}

#[cfg(unix)]
impl Drop for ProcessTree {
    fn drop(&mut self) {
        use rustix::process::{Signal, kill_process, kill_process_group};

        let Some(leader) = self.leader else { return };
        // Errors are ignored: a process that no longer exists need not be signalled.
        if self.is_guard && !self.has_ended {
            let _ = kill_process(leader, Signal::TERM);
            return;
        }
        // Processes that have left the group can be found only while the processes that started them are alive.
        #[cfg(target_os = "linux")]
        let fled = if self.has_ended { Vec::new() } else { descendants(leader).unwrap_or_default() };
        // After a guard has ended, this finds processes only if the guard was killed.
        let _ = kill_process_group(leader, Signal::KILL);
        #[cfg(target_os = "linux")]
        for process in fled {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) fn children(of: Pid) -> io::Result<Vec<Pid>> {
    Ok(parents()?.into_iter().filter_map(|(child, parent)| (parent == of).then_some(child)).collect())
}

/// Returns all descendants of a process, as `/proc` has them. A process that has lost a parent in between is not found.
#[cfg(target_os = "linux")]
fn descendants(of: Pid) -> io::Result<Vec<Pid>> {
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

#[cfg(target_os = "linux")]
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

#[cfg(all(test, target_os = "linux"))]
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
