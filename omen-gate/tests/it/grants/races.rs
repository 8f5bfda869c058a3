//! Concurrent dispatches.

use std::num::NonZeroU32;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use omen_gate::{Grant, Grants, Permission};

use crate::support::{call, clock, grant, outcome, tool};

#[test]
fn the_last_use_goes_to_one_only() {
    const THREADS: usize = 8;
    for uses in [1, 3] {
        for _ in 0..50 {
            let grants = Grants::new(clock());
            grants.grant(Grant { uses: NonZeroU32::new(uses), ..grant("files/read", Permission::Read) }).unwrap();
            let (barrier, ran) = (Barrier::new(THREADS), AtomicU32::new(0));
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        // All are authorized before any is dispatched.
                        let lease = outcome(grants.check(&call("files/read", &[Permission::Read]))).unwrap();
                        barrier.wait();
                        if outcome(lease.redeem(None)).is_ok() {
                            ran.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
            });
            assert_eq!(ran.into_inner(), uses);
        }
    }
}

#[test]
fn nothing_is_dispatched_after_a_revocation_has_returned() {
    for _ in 0..50 {
        let grants = Grants::new(clock());
        grants.grant(grant("files/read", Permission::Read)).unwrap();
        let (barrier, revoked) = (Barrier::new(5), std::sync::atomic::AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..20 {
                        let after = revoked.load(Ordering::SeqCst);
                        let lease = outcome(grants.check(&call("files/read", &[Permission::Read])));
                        let ran = lease.and_then(|lease| outcome(lease.redeem(None))).is_ok();
                        assert!(!(after && ran), "ran after the revocation");
                    }
                });
            }
            barrier.wait();
            grants.revoke(&tool("files/read"), Permission::Read);
            revoked.store(true, Ordering::SeqCst);
        });
    }
}
