//! Identity of the other end of a connection.

use omen_gate::confirm::Responder;

/// Channel through which these answers come.
const VIA: &str = "socket";

/// Returns the user of a process if it may answer: only the user who runs the gate may. Not even root may, since its
/// processes can switch to that user if they want to answer.
pub(super) fn admitted(uid: u32) -> Option<Responder> {
    is_ours(uid, rustix::process::geteuid().as_raw()).then(|| Responder::via(VIA).user(uid, name(uid).as_deref()))
}

fn is_ours(uid: u32, ours: u32) -> bool {
    uid == ours
}

/// Returns the name of a user, if the system knows it.
fn name(uid: u32) -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::Uid::from_raw(uid)).ok()??;
    Some(user.name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{admitted, is_ours};

    #[test]
    fn only_the_user_who_runs_the_gate_may_answer() {
        let ours = rustix::process::geteuid().as_raw();
        let responder = admitted(ours).unwrap();
        assert_eq!((responder.via.as_str(), responder.uid), ("socket", Some(ours)));
        assert!(admitted(ours.wrapping_add(1)).is_none());
        assert!(!is_ours(0, 1000) && !is_ours(1000, 0));
    }
}
