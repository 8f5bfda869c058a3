//! Directives.

use std::sync::Arc;

use omen_types::{Code, Diagnostic};

use crate::episode::core::Core;
use crate::episode::draft::Draft;
use crate::episode::{
    Act, Authorize, Decide, Episode, Execute, HasPlan, IntoOrders, Many, Open, Order, Pending, Progress, ReadsAtOnce,
    Refusal, Refused, SomeOrders, Verify, VerifyOnlyReads, WritesFirst,
};

/// Sends READ directives on the strength of the decision (D18). Each comes back as a task that needs its
/// result.
///
/// # Errors
/// If one is refused, none is sent: over budget and not approved (INV-005).
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
/// If one is refused, none is sent: the token has expired or was revoked, or is of another episode (E4),
/// the parameters break its constraints (INV-007), or over budget and not approved (INV-005).
pub(crate) fn from_authorize<C: WritesFirst, const N: usize>(
    episode: Episode<Authorize>,
    orders: impl IntoOrders<C, N>,
) -> Result<(Episode<Open<Execute, N>>, [Pending; N]), Refused<Authorize, [Order<C>; N]>>
where
    [(); N]: SomeOrders,
{
    send(episode, orders)
}

/// Sends more directives; orders of both classes may be mixed with [`Order::any`].
///
/// # Errors
/// If one is refused, none is sent: for a token (E4), its constraints (INV-007), or budgets (INV-005).
pub(crate) fn more<C, const N: usize>(
    episode: Episode<Execute>,
    orders: impl IntoOrders<C, N>,
) -> Result<(Episode<Open<Execute, N>>, [Pending; N]), Refused<Execute, [Order<C>; N]>>
where
    [(); N]: SomeOrders,
{
    send(episode, orders)
}

/// Sends more directives while others are open. How many are open is known at run time from then on.
///
/// # Errors
/// If one is refused, none is sent: for a token (E4), its constraints (INV-007), or budgets (INV-005).
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
/// If one is refused, none is sent: for a token (E4), its constraints (INV-007), or budgets (INV-005).
pub(crate) fn beside_many<C, const M: usize>(
    episode: Episode<Many<Execute>>,
    orders: impl IntoOrders<C, M>,
) -> Result<(Episode<Many<Execute>>, [Pending; M]), Refused<Many<Execute>, [Order<C>; M]>>
where
    [(); M]: SomeOrders,
{
    send(episode, orders)
}

/// Sends READ directives of the verification loop (D10). The loop goes on when they are settled; one
/// that is sent and carried out in one step is `.check(..)`.
///
/// # Errors
/// If one is refused, none is sent: over budget and not approved (INV-005).
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

fn send<S, Next, C, const N: usize>(
    mut episode: Episode<S>,
    orders: impl IntoOrders<C, N>,
) -> Result<(Episode<Next>, [Pending; N]), Refused<S, [Order<C>; N]>> {
    let orders = orders.into_orders();
    match dispatch(&mut episode.core, &orders) {
        Ok(tasks) => Ok((episode.at(), tasks)),
        Err(why) => Err(episode.refuse(why).giving_back(orders)),
    }
}

fn dispatch<C, const N: usize>(core: &mut Core, orders: &[Order<C>; N]) -> Result<[Pending; N], Arc<Refusal>> {
    if orders.iter().any(|order| !order.is_of(&core.mark)) {
        let finding = Diagnostic::error(Code::E4, "the permit is of another episode")
            .at("/payload/authorization_token_id")
            .help(Code::E4.info().help);
        return Err(Arc::new(Refusal::rule(finding)));
    }
    orders.iter().try_for_each(Order::check).map_err(Arc::new)?;
    let task_ids = core.fresh_task_ids(N)?;
    let drafts = orders.iter().zip(task_ids).map(|(order, id)| Draft::new(order.payload(id))).collect();
    let directives = core.send(drafts)?;
    let tasks = directives.iter().filter_map(|directive| core.tasks.get(directive.as_str()));
    // INVARIANT: each directive that was sent is open.
    tasks.map(|task| core.pending(task)).collect::<Vec<_>>().try_into().map_err(|tasks: Vec<Pending>| {
        let problem = format!("{} of {N} directives have their task", tasks.len());
        Arc::new(Refusal::rule(Diagnostic::error(Code::E6, problem)))
    })
}
