//! Grants, their expiry and their uses.

use std::num::NonZeroU32;

use omen_gate::grant::MAX_GRANTS;
use omen_gate::{Blocked, Call, GateCode, Grant, Grants, Permission, Permissions};

use crate::support::{call, clock, grant, outcome, secs, start, tool};
use Permission::{Execute, Network, Read, Write};

/// Authorizes and dispatches at once, without a confirmation.
fn run(grants: &Grants, call: &Call) -> Result<(), Blocked> {
    outcome(outcome(grants.check(call))?.redeem(None)).map(drop)
}

#[track_caller]
fn blocked<T>(result: Result<T, Blocked>, code: GateCode, message: &str) {
    match result {
        Err(blocked) => assert_eq!((blocked.code, blocked.message.as_str()), (code, message)),
        Ok(_) => panic!("not blocked: {message}"),
    }
}

#[test]
fn nothing_is_granted_by_itself() {
    let grants = Grants::new(clock());
    for permission in Permission::ALL {
        let call = call("files/x", &[permission]);
        blocked(run(&grants, &call), GateCode::G1, &format!("there is no grant of `{permission}` for `files/x`"));
    }
}

#[test]
fn a_tool_without_permissions_cannot_be_told_of() {
    assert!(Permissions::new([]).is_err());
    assert!(serde_json::from_str::<Permissions>("[]").is_err());
    assert_eq!(serde_json::to_string(&Permissions::new([Write, Read, Write]).unwrap()).unwrap(), r#"["READ","WRITE"]"#);
}

#[test]
fn a_grant_is_for_its_tool_server_and_permission_only() {
    let grants = Grants::new(clock());
    grants.grant(grant("files/read", Read)).unwrap();
    assert_eq!(run(&grants, &call("files/read", &[Read])), Ok(()));
    for other in [call("files/read2", &[Read]), call("mail/read", &[Read]), call("files/read", &[Execute])] {
        assert_eq!(run(&grants, &other).unwrap_err().code, GateCode::G1);
    }
    let both = call("files/read", &[Read, Network]);
    blocked(run(&grants, &both), GateCode::G1, "there is no grant of `NETWORK` for `files/read`");
}

#[test]
fn expiry_is_to_the_moment() {
    let clock = clock();
    let grants = Grants::new(clock.clone());
    grants.grant(Grant { expires: Some(start() + secs(10)), ..grant("files/read", Read) }).unwrap();
    let call = call("files/read", &[Read]);
    clock.advance(secs(10) - std::time::Duration::from_nanos(1));
    assert_eq!(run(&grants, &call), Ok(()));
    let held = outcome(grants.check(&call)).unwrap();
    clock.advance(std::time::Duration::from_nanos(1));
    blocked(run(&grants, &call), GateCode::G2, "the grant of `READ` for `files/read` has expired");
    blocked(outcome(held.redeem(None)), GateCode::G2, "the grant of `READ` for `files/read` has expired");
}

#[test]
fn uses_are_taken_at_dispatch_and_run_out() {
    let grants = Grants::new(clock());
    grants.grant(Grant { uses: NonZeroU32::new(2), ..grant("files/read", Read) }).unwrap();
    let call = call("files/read", &[Read]);
    for _ in 0..5 {
        drop(outcome(grants.check(&call)).unwrap()); // Authorized, never dispatched: nothing is used.
    }
    assert_eq!(run(&grants, &call), Ok(()));
    assert_eq!(run(&grants, &call), Ok(()));
    blocked(run(&grants, &call), GateCode::G2, "the grant of `READ` for `files/read` is used up");
}

#[test]
fn a_revocation_between_authorization_and_dispatch_bites() {
    for by_id in [false, true] {
        let grants = Grants::new(clock());
        let id = grants.grant(grant("files/read", Read)).unwrap();
        let lease = outcome(grants.check(&call("files/read", &[Read]))).unwrap();
        if by_id {
            assert_eq!(grants.revoke_id(id), Some(grant("files/read", Read)));
        } else {
            assert_eq!(grants.revoke(&tool("files/read"), Read), [id]);
        }
        blocked(outcome(lease.redeem(None)), GateCode::G2, "the grant of `READ` for `files/read` was revoked");
        assert_eq!(grants.revoke_id(id), None);
        assert_eq!(grants.revoke(&tool("files/read"), Read), []);
    }
}

#[test]
fn a_grant_given_later_does_not_save_a_lease_whose_grant_is_revoked() {
    let grants = Grants::new(clock());
    let id = grants.grant(grant("files/read", Read)).unwrap();
    let call = call("files/read", &[Read]);
    let lease = outcome(grants.check(&call)).unwrap();
    grants.revoke_id(id);
    grants.grant(grant("files/read", Read)).unwrap();
    assert_eq!(outcome(lease.redeem(None)).unwrap_err().code, GateCode::G2);
    assert_eq!(run(&grants, &call), Ok(()));
}

#[test]
fn all_permissions_are_taken_or_none() {
    let grants = Grants::new(clock());
    let once = |permission| Grant { uses: NonZeroU32::new(1), pre_granted: true, ..grant("files/copy", permission) };
    grants.grant(once(Read)).unwrap();
    let write = grants.grant(once(Write)).unwrap();
    let lease = outcome(grants.check(&call("files/copy", &[Read, Write]))).unwrap();
    grants.revoke_id(write);
    assert_eq!(outcome(lease.redeem(None)).unwrap_err().code, GateCode::G2);
    // The use of READ, which comes first, was not taken.
    assert_eq!(run(&grants, &call("files/copy", &[Read])), Ok(()));
}

#[test]
fn several_grants_stand_side_by_side() {
    let grants = Grants::new(clock());
    grants.grant(Grant { uses: NonZeroU32::new(1), ..grant("files/read", Read) }).unwrap();
    grants.grant(Grant { uses: NonZeroU32::new(1), ..grant("files/read", Read) }).unwrap();
    let call = call("files/read", &[Read]);
    assert_eq!(run(&grants, &call), Ok(()));
    assert_eq!(run(&grants, &call), Ok(()));
    assert_eq!(run(&grants, &call).unwrap_err().code, GateCode::G2);
}

#[test]
fn a_pre_grant_is_preferred_while_it_stands() {
    let grants = Grants::new(clock());
    grants.grant(grant("files/write", Write)).unwrap();
    let pre_granted = Grant { pre_granted: true, uses: NonZeroU32::new(1), ..grant("files/write", Write) };
    let pre_granted = grants.grant(pre_granted).unwrap();
    let call = call("files/write", &[Write]);
    let lease = grants.check(&call);
    assert_eq!(lease.decision().grants, [pre_granted]);
    assert!(outcome(outcome(lease).unwrap().redeem(None)).is_ok());
    // The remaining grant needs a confirmation.
    assert_eq!(run(&grants, &call).unwrap_err().code, GateCode::G3);
}

#[test]
fn the_store_is_bounded_and_forgets_the_dead_only() {
    let clock = clock();
    let grants = Grants::new(clock.clone());
    grants.grant(Grant { expires: Some(start() + secs(1)), ..grant("files/short", Read) }).unwrap();
    for index in 1..MAX_GRANTS {
        grants.grant(grant(&format!("files/t{index}"), Read)).unwrap();
    }
    let lease = outcome(grants.check(&call("files/short", &[Read]))).unwrap();
    let one_more = grant("files/more", Read);
    assert_eq!(grants.grant(one_more.clone()).unwrap_err().code, GateCode::G1);
    clock.advance(secs(1));
    grants.grant(one_more.clone()).unwrap();
    assert_eq!(grants.grant(one_more).unwrap_err().code, GateCode::G1);
    assert_eq!(run(&grants, &call("files/more", &[Read])), Ok(()));
    assert_eq!(run(&grants, &call("files/t1", &[Read])), Ok(()));
    // A forgotten grant is still not valid.
    assert_eq!(outcome(lease.redeem(None)).unwrap_err().code, GateCode::G2);
}

#[test]
fn a_grant_that_a_call_goes_by_is_not_forgotten() {
    let clock = clock();
    let grants = Grants::new(clock.clone());
    let once = Grant { uses: NonZeroU32::new(1), ..grant("files/read", Read) };
    grants.grant(once).unwrap();
    let redeemed = outcome(outcome(grants.check(&call("files/read", &[Read]))).unwrap().redeem(None)).unwrap();
    for index in 1..MAX_GRANTS {
        grants.grant(Grant { expires: Some(start()), ..grant(&format!("files/t{index}"), Read) }).unwrap();
    }
    grants.grant(grant("files/more", Read)).unwrap();
    assert_eq!(redeemed.stands(), Ok(()), "nobody has revoked it");
    assert_eq!(grants.revoke(&tool("files/read"), Read).len(), 1, "it can still be");
    blocked(redeemed.stands(), GateCode::G2, "the grant of `READ` for `files/read` was revoked");
}
