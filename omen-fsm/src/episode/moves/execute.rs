//! Directives.

use std::sync::Arc;

use omen_types::{Code, Diagnostic};

use crate::episode::core::Core;
use crate::episode::draft::Draft;
use crate::episode::{
    Act, Authorize, Decide, Episode, Execute, HasPlan, IntoOrders, Many, Open, Order, Pending, Progress, ReadsAtOnce,
    Refusal, Refused, SomeOrders, Verify, VerifyOnlyReads, WritesFirst,
};

/// Sends READ directives, which need no token (D18), and returns a task for each, which needs a result.
///
/// # Errors
/// A refused directive, in which case none is sent: the episode is over budget without approval (INV-005).
pub(crate) fn from_act<C: ReadsAtOnce, const N: usize>(
    episode: Episode<Decide<Act>>,
    orders: impl IntoOrders<C, N>,
) -> Result<(Episode<Open<Execute, N>>, [Pending; N]), Refused<Decide<Act>, [Order<C>; N]>>
where
    [(); N]: SomeOrders,
{
    send(episode, orders)
}

/// Sends directives that write, each with a permit.
///
/// # Errors
/// A refused directive, in which case none is sent: the token has expired, was revoked or belongs to another episode
/// (E4), the parameters violate its constraints (INV-007), or the episode is over budget without approval (INV-005).
pub(crate) fn from_authorize<C: WritesFirst, const N: usize>(
    episode: Episode<Authorize>,
    orders: impl IntoOrders<C, N>,
) -> Result<(Episode<Open<Execute, N>>, [Pending; N]), Refused<Authorize, [Order<C>; N]>>
where
    [(); N]: SomeOrders,
{
    send(episode, orders)
}

/// Sends more directives. Use [`Order::any`] to mix orders that read with orders that write.
///
/// # Errors
/// A refused directive, in which case none is sent: because of a token (E4), its constraints (INV-007), or budgets (INV-005).
pub(crate) fn more<C, const N: usize>(
    episode: Episode<Execute>,
    orders: impl IntoOrders<C, N>,
) -> Result<(Episode<Open<Execute, N>>, [Pending; N]), Refused<Execute, [Order<C>; N]>>
where
    [(); N]: SomeOrders,
{
    send(episode, orders)
}

/// Sends more directives while others are open. From then on, the number of open directives is known only at run time.
///
/// # Errors
/// A refused directive, in which case none is sent: because of a token (E4), its constraints (INV-007), or budgets (INV-005).
pub(crate) fn beside<C, const N: usize, const M: usize>(
    episode: Episode<Open<Execute, N>>,
    orders: impl IntoOrders<C, M>,
) -> Result<(Episode<Many<Execute>>, [Pending; M]), Refused<Open<Execute, N>, [Order<C>; M]>>
where
    [(); M]: SomeOrders,
{
    send(episode, orders)
}

/// Sends more directives while others are open.
///
/// # Errors
/// A refused directive, in which case none is sent: because of a token (E4), its constraints (INV-007), or budgets (INV-005).
pub(crate) fn beside_many<C, const M: usize>(
    episode: Episode<Many<Execute>>,
    orders: impl IntoOrders<C, M>,
) -> Result<(Episode<Many<Execute>>, [Pending; M]), Refused<Many<Execute>, [Order<C>; M]>>
where
    [(); M]: SomeOrders,
{
    send(episode, orders)
}

/// Sends READ directives of the verification loop, which continues once they are settled (D10). `.check(..)` sends,
/// carries out and settles a directive in a single move.
///
/// # Errors
/// A refused directive, in which case none is sent: the episode is over budget without approval (INV-005).
pub(crate) fn in_loop<P: HasPlan<C>, O, T, C: VerifyOnlyReads, const N: usize>(
    episode: Episode<Verify<P, O, T>>,
    orders: impl IntoOrders<C, N>,
) -> Result<
    (Episode<Open<Verify<<P as Progress>::Sent, O, T>, N>>, [Pending; N]),
    Refused<Verify<P, O, T>, [Order<C>; N]>,
>
where
    [(); N]: SomeOrders,
{
    send(episode, orders)
}

/// Sends directives in a state that is a type parameter.
///
/// # Errors
/// A refused directive, in which case none is sent: because of a token (E4), its constraints (INV-007), or budgets (INV-005).
pub(crate) fn send<S, Next, C, const N: usize>(
    mut episode: Episode<S>,
    orders: impl IntoOrders<C, N>,
) -> Result<(Episode<Next>, [Pending; N]), Refused<S, [Order<C>; N]>>
where
    [(); N]: SomeOrders,
{
    let orders = orders.into_orders();
    // INVARIANT: every order has a task.
    let sent = episode.core.dispatch(&orders).and_then(|tasks| {
        tasks.try_into().map_err(|tasks: Vec<Pending>| {
            let problem = format!("{} of {N} directives have a task", tasks.len());
            Arc::new(Refusal::rule(Diagnostic::error(Code::E6, problem)))
        })
    });
    match sent {
        Ok(tasks) => Ok((episode.at(), tasks)),
        Err(why) => Err(episode.refuse(why).giving_back(orders)),
    }
}

impl Core {
    /// Sends directives, and returns the task of each.
    pub(crate) fn dispatch<C>(&mut self, orders: &[Order<C>]) -> Result<Vec<Pending>, Arc<Refusal>> {
        if orders.iter().any(|order| !order.is_of(&self.tag)) {
            let finding = Diagnostic::error(Code::E4, "the permit belongs to another episode")
                .at("/payload/authorization_token_id")
                .help(Code::E4.info().help);
            return Err(Arc::new(Refusal::rule(finding)));
        }
        orders.iter().try_for_each(Order::check).map_err(Arc::new)?;
        self.tools.check(orders.iter().filter_map(Order::tool)).map_err(Arc::new)?;
        let task_ids = self.fresh_task_ids(orders.len())?;
        let drafts = orders.iter().zip(task_ids).map(|(order, id)| Draft::new(order.payload(id))).collect();
        let directives = self.send(drafts)?;
        let tasks = directives.iter().filter_map(|directive| self.tasks.get(directive.as_str()));
        Ok(tasks.map(|task| self.pending(task)).collect())
    }
}
