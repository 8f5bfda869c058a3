//! Programs without a network, where the system permits that.

use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Whether a program can be run without a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offline {
    /// It can: these words come before its command line. It has the loopback device and no other.
    Permitted(Vec<OsString>),
    /// It cannot, for this reason.
    NotPermitted(String),
}

/// Finds a way to run a program without a network, by trying each.
#[must_use]
pub fn offline() -> Offline {
    ways().into_iter().find(|words| works(words)).map_or_else(
        || Offline::NotPermitted("`unshare --net` is missing or not permitted".to_owned()),
        Offline::Permitted,
    )
}

/// A user who may not call `unshare --net` may do so as root of a new user namespace. A second namespace in it maps back to
/// the user, because root could read files that tests make unreadable.
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

/// The loopback device of a new network is down at first.
const LOOPBACK: &str = "ip link set lo up 2>/dev/null; exec";

fn works(words: &[OsString]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
