//! Process group of a server, which is killed with everything that the server has started.

use tokio::process::Child;

#[cfg(target_os = "linux")]
use super::process_tree;

/// Process and everything that it has started, which are killed when this is dropped, e.g. because the runtime ends.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
    pub(super) is_guard: bool,
    pub(super) has_ended: bool,
}

impl ProcessGroup {
    #[cfg(unix)]
    pub(super) fn new(child: &Child, is_guard: bool) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self { leader, is_guard, has_ended: false }
    }

    /// Creates the group. On other systems, only the process itself is killed.
    #[cfg(not(unix))]
    pub(super) fn new(_: &Child, is_guard: bool) -> Self {
        Self { is_guard, has_ended: false }
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
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
        let fled = if self.has_ended { Vec::new() } else { process_tree::descendants(leader).unwrap_or_default() };
        // After a guard has ended, this finds processes only if the guard was killed.
        let _ = kill_process_group(leader, Signal::KILL);
        #[cfg(target_os = "linux")]
        for process in fled {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}
