//! Runs programs without a network, where the system permits it.

use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Whether programs can run without a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offline {
    /// They can, with this command-line prefix. They have only the loopback device.
    Permitted(Vec<OsString>),
    /// They cannot, for this reason.
    NotPermitted(String),
}

/// Tries each way to run a program without a network.
#[must_use]
pub fn offline() -> Offline {
    ways().into_iter().find(|words| works(words)).map_or_else(
        || Offline::NotPermitted("`unshare --net` is missing or not permitted".to_owned()),
        Offline::Permitted,
    )
}

/// A user who may not call `unshare --net` may be able to as root of a new user namespace. A second namespace inside it
/// maps back to the user, because root could read files that tests make unreadable.
fn ways() -> Vec<Vec<OsString>> {
    let words = |words: &[&str]| words.iter().map(OsString::from).collect();
    let mut ways = vec![words(&["unshare", "--net", "sh", "-c", &format!("{LOOPBACK} \"$@\""), "sh"])];
    #[cfg(unix)]
    {
        let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let script = format!("{LOOPBACK} unshare --map-user={user} --map-group={group} \"$@\"");
        ways.push(words(&["unshare", "--map-root-user", "--net", "sh", "-c", &script, "sh"]));
    }
    ways
}

/// Brings up the loopback device, which is initially down in a new network namespace.
const LOOPBACK: &str = "ip link set lo up 2>/dev/null; exec";

fn works(words: &[OsString]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
