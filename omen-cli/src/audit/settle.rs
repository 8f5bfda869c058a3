//! `omen audit settle`: records the effect of a call in doubt.

use std::sync::Arc;

use omen_gate::SystemClock;
use omen_gate::audit::store::log_of;
use omen_gate::audit::{Audit, AuditError, Options};

use crate::args::{AuditSettleArgs, YesNo};
use crate::exit::{Exit, complain};

pub(crate) fn settle(args: &AuditSettleArgs) -> Exit {
    let Some(key) = super::key(&args.key) else { return Exit::Unreadable };
    let log = log_of(&args.log);
    // Opening would create a missing log.
    let settled = match log.try_exists() {
        Ok(true) => Audit::open(&log, key, Arc::new(SystemClock::default()), Options::default())
            .and_then(|audit| audit.settle(args.entry, args.ran == YesNo::Yes)),
        Ok(false) => Err(AuditError::Io { path: log, source: std::io::ErrorKind::NotFound.into() }),
        Err(source) => Err(AuditError::Io { path: log, source }),
    };
    match settled {
        Ok(_) => Exit::Clean,
        Err(error) => {
            complain(format_args!("cannot settle the call: {error}; {}", error.help()));
            Exit::Unreadable
        }
    }
}
