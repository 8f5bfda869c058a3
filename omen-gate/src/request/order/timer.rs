//! Timer of the order rules: handles deadlines that pass and sessions that become idle while no calls arrive.

use std::sync::{Arc, Weak};
use std::time::Duration;

use omen_order::Engine;
use tokio::runtime::Handle;

use super::{Order, OrderParts, OrderState, monotonic};

impl Order {
    /// Starts the timer if something is due later and no timer is running. Without a runtime, the next call handles what is due.
    pub(super) fn start_timer(&self, state: &mut OrderState) {
        if state.has_timer || state.engine.next_timer().is_none() {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        state.has_timer = true;
        let mut running = RunningTimer(Arc::downgrade(&self.0));
        runtime.spawn(async move {
            while let Some(left) = running.next() {
                tokio::time::sleep(left.min(AGAIN)).await;
            }
        });
    }
}

/// Running timer, which does not keep the gate alive.
struct RunningTimer(Weak<OrderParts>);

impl RunningTimer {
    /// Handles what is due, and returns the time until the next deadline; `None` if nothing is left to wait for. In that case
    /// another timer may start before this one is dropped, and dropping this one must not count as the end of the other.
    fn next(&mut self) -> Option<Duration> {
        let order = Order(self.0.upgrade()?);
        order.with(Engine::tick);
        let mut state = order.0.state.lock();
        let due = state.engine.next_timer();
        state.has_timer = due.is_some();
        if due.is_none() {
            self.0 = Weak::new();
        }
        let left = due?.saturating_sub(monotonic(order.0.clock.as_ref())).max(1);
        Some(Duration::from_millis(u64::try_from(left).unwrap_or(1)))
    }
}

/// A runtime that ends drops the timer; another runtime may start the next one.
impl Drop for RunningTimer {
    fn drop(&mut self) {
        if let Some(parts) = self.0.upgrade() {
            parts.state.lock().has_timer = false;
        }
    }
}

/// Interval for rereading the clock, which may not be the runtime's.
const AGAIN: Duration = Duration::from_secs(1);

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use omen_audit::store::Memory;
    use omen_audit::{Audit, Key, Options};

    use super::*;
    use crate::base::SystemClock;
    use crate::config::Config;
    use crate::request::gate::Gate;

    #[test]
    fn a_timer_with_nothing_left_to_wait_for_leaves_the_next_one_alone() {
        let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
        let audit = Audit::over(Memory::default(), key, Arc::new(SystemClock::default()), Options::default()).unwrap();
        let gate = Gate::builder(Config::parse("").unwrap()).audit(audit).build().unwrap();
        let mut running = RunningTimer(Arc::downgrade(&gate.order().0));
        assert_eq!(running.next(), None);
        // A call starts the next timer before this one is dropped.
        gate.order().0.state.lock().has_timer = true;
        drop(running);
        assert!(gate.order().0.state.lock().has_timer);
        // A runtime that ends drops a timer that is still waiting.
        drop(RunningTimer(Arc::downgrade(&gate.order().0)));
        assert!(!gate.order().0.state.lock().has_timer);
    }
}
