//! Moves that send a directive, call its tool and record the result.
//!
//! Between `execute` and `settle`, directives are open, and `?` on a tool error would leave them open (E6). With these
//! methods, a closure receives the task, its error becomes a FAILURE, and the episode is returned with the error.

use std::fmt;
use std::sync::Arc;

use omen_types::ErrorDetails;
use omen_types::fit::cut;
use serde::Serialize;

use super::any::Halt;
use super::errors::{Refusal, Refused};
use super::lease::Lapsed;
use super::state::{Decide, Open, Verify};
use super::values::{DoesNotFit, Json, NotStarted, Order, Pending, Running, Settled};
use super::{
    Act, Authorize, Episode, Execute, HasPlan, IntoOrder, IntoOrders, Progress, Proven, ReadsAtOnce, VerifyOnlyReads,
    WritesFirst, moves,
};

/// Reason why a tool returned no value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError<E> {
    /// The tool returned an error.
    Tool(E),
    /// The task must not run, or its outcome does not count, for instance because its token has expired or its episode
    /// was resumed elsewhere (D52).
    Lapsed(Lapsed),
    /// The tool's value does not fit into a packet.
    DoesNotFit(DoesNotFit),
}

impl<E: fmt::Display> fmt::Display for TaskError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(error) => error.fmt(f),
            Self::Lapsed(why) => why.fmt(f),
            Self::DoesNotFit(why) => write!(f, "the result does not fit into a packet: {why}"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for TaskError<E> {}

/// Failed tool call. Its FAILURE is in the log, and the episode continues from `S`.
#[must_use = "it holds the episode"]
pub struct Failed<S, E> {
    /// Episode, with the failure in its log.
    pub episode: Episode<S>,
    /// Reason for the failure.
    pub error: TaskError<E>,
}

/// Error of `.execute_with(..)`.
#[must_use = "it holds the episode"]
pub enum ExecuteError<S, C, E> {
    /// The directive was refused, and the tool was not called.
    Refused(Refused<S, [Order<C>; 1]>),
    /// The tool was called, and its result was refused because the log failed.
    Settling(Refused<Open<Execute, 1>, Vec<Settled>>),
    /// The tool failed.
    Failed(Failed<Execute, E>),
}

/// Error of `.execute_each(..)`.
#[must_use = "it holds the episode"]
pub enum EachError<S, C, const N: usize> {
    /// A directive was refused, and no tool was called.
    Refused(Refused<S, [Order<C>; N]>),
    /// The tools were called, and their results were refused because the log failed.
    Settling(Refused<Open<Execute, N>, Vec<Settled>>),
}

/// Error of `.check_with(..)`.
#[must_use = "it holds the episode"]
pub enum LoopError<P: Progress, O, T, C, E> {
    /// The directive was refused, and the tool was not called.
    Refused(Refused<Verify<P, O, T>, [Order<C>; 1]>),
    /// The tool was called, and its result was refused because the log failed.
    Settling(Refused<Open<Verify<P::Sent, O, T>, 1>, Vec<Settled>>),
    /// The tool failed; the check may be repeated.
    Failed(Failed<Verify<P::Sent, O, T>, E>),
}

/// Maximum length of a tool's error message, in bytes.
const LONGEST_MESSAGE: usize = 64 * 1024;

/// Settles a task that must not run as cancelled.
fn lapsed<V, E>(NotStarted { task, why }: NotStarted) -> TaskOutcome<V, E> {
    (task.cancelled(), Err(TaskError::Lapsed(why)))
}

/// Returns the outcome of a task, both as its result and as the tool's value.
fn end<V: Serialize, E: fmt::Display>(task: Running, outcome: Result<V, E>) -> TaskOutcome<V, E> {
    let outcome = outcome.map_err(TaskError::Tool).and_then(|value| {
        task.stands().map_err(TaskError::Lapsed)?;
        let data = Json::of(&value).map_err(TaskError::DoesNotFit)?;
        Ok((value, data.into_value()))
    });
    match outcome {
        Ok((value, data)) => (task.success(data), Ok(value)),
        Err(error) => {
            // A tool's message may be long, and the result must fit into the log.
            let mut message = error.to_string();
            cut(&mut message, LONGEST_MESSAGE);
            let details = ErrorDetails::builder().error_message(message).build();
            (task.failed(details), Err(error))
        }
    }
}

fn run<V: Serialize, E: fmt::Display>(task: Pending, tool: impl FnOnce(&Running) -> Result<V, E>) -> TaskOutcome<V, E> {
    match task.start() {
        Ok(running) => {
            let outcome = tool(&running);
            end(running, outcome)
        }
        Err(not_started) => lapsed(not_started),
    }
}

async fn run_async<V: Serialize, E: fmt::Display>(
    task: Pending,
    tool: impl AsyncFnOnce(&Running) -> Result<V, E>,
) -> TaskOutcome<V, E> {
    match task.start() {
        Ok(running) => {
            let outcome = tool(&running).await;
            end(running, outcome)
        }
        Err(not_started) => lapsed(not_started),
    }
}

/// Records the outcomes of tasks.
fn settle<S, Next>(mut episode: Episode<S>, results: Vec<Settled>) -> Result<Episode<Next>, Refused<S, Vec<Settled>>> {
    match episode.core.settle(&results) {
        Ok(()) => Ok(episode.at()),
        Err(why) => Err(episode.refuse(why).giving_back(results)),
    }
}

fn settle_one<S, C, V, E>(
    episode: Episode<Open<Execute, 1>>,
    (settled, outcome): TaskOutcome<V, E>,
) -> Result<(Episode<Execute>, V), ExecuteError<S, C, E>> {
    let episode = settle(episode, vec![settled]).map_err(ExecuteError::Settling)?;
    match outcome {
        Ok(value) => Ok((episode, value)),
        Err(error) => Err(ExecuteError::Failed(Failed { episode, error })),
    }
}

fn settle_each<S, C, V, E, const N: usize>(
    episode: Episode<Open<Execute, N>>,
    done: Vec<TaskOutcome<V, E>>,
) -> Result<(Episode<Execute>, [Result<V, TaskError<E>>; N]), EachError<S, C, N>> {
    let (settled, outcomes): (Vec<_>, Vec<_>) = done.into_iter().unzip();
    let episode = settle(episode, settled).map_err(EachError::Settling)?;
    let mut outcomes = outcomes.into_iter();
    // INVARIANT: there is one outcome for each task.
    let outcomes = std::array::from_fn(|_| outcomes.next().unwrap_or(Err(TaskError::Lapsed(Lapsed::NotOpen))));
    Ok((episode, outcomes))
}

fn settle_check<P: Progress, O, T, C, V, E>(
    episode: Episode<Open<Verify<P::Sent, O, T>, 1>>,
    (settled, outcome): TaskOutcome<V, E>,
) -> Result<(Episode<Verify<Proven, O, T>>, V), LoopError<P, O, T, C, E>> {
    let episode: Episode<Verify<P::Sent, O, T>> = settle(episode, vec![settled]).map_err(LoopError::Settling)?;
    match outcome {
        Ok(value) => Ok((episode.at(), value)),
        Err(error) => Err(LoopError::Failed(Failed { episode, error })),
    }
}

/// Result of a task, and the value that its tool returned.
type TaskOutcome<V, E> = (Settled, Result<V, TaskError<E>>);

impl<P: Progress, O, T> Episode<Verify<P, O, T>> {
    /// Sends a READ directive of the loop, calls its tool, and records the result, including a FAILURE. Like
    /// `.check(..)`, but returns the tool's value or error.
    ///
    /// # Errors
    /// [`LoopError::Refused`] if the directive was refused; the tool was not called. [`LoopError::Failed`] if the tool
    /// failed; the check may be repeated.
    pub fn check_with<C: VerifyOnlyReads, V: Serialize, E: fmt::Display>(
        self,
        order: impl IntoOrder<C>,
        tool: impl FnOnce(&Running) -> Result<V, E>,
    ) -> Result<(Episode<Verify<Proven, O, T>>, V), LoopError<P, O, T, C, E>>
    where
        P: HasPlan<C>,
    {
        let (episode, [task]) = moves::execute::in_loop(self, [order.into_order()]).map_err(LoopError::Refused)?;
        settle_check(episode, run(task, tool))
    }

    /// Like `check_with`, for an async tool.
    ///
    /// # Errors
    /// Same as `check_with`.
    pub async fn check_with_async<C: VerifyOnlyReads, V: Serialize, E: fmt::Display>(
        self,
        order: impl IntoOrder<C>,
        tool: impl AsyncFnOnce(&Running) -> Result<V, E>,
    ) -> Result<(Episode<Verify<Proven, O, T>>, V), LoopError<P, O, T, C, E>>
    where
        P: HasPlan<C>,
    {
        let (episode, [task]) = moves::execute::in_loop(self, [order.into_order()]).map_err(LoopError::Refused)?;
        settle_check(episode, run_async(task, tool).await)
    }
}

macro_rules! executes {
    ($($state:ty: $send:ident $(($class:ident))?;)*) => {
        $(
            impl Episode<$state> {
                /// Sends a directive, calls its tool, and records the result. An error of `tool` becomes a FAILURE with
                /// the error's text as `error_message`; a value becomes the `result_data`.
                ///
                /// # Errors
                /// [`ExecuteError::Refused`] if the directive was refused, as by `.execute([..])`; the tool was not
                /// called. [`ExecuteError::Failed`] if the tool failed; the episode continues.
                pub fn execute_with<C $(: $class)?, V: Serialize, E: fmt::Display>(
                    self,
                    order: impl IntoOrder<C>,
                    tool: impl FnOnce(&Running) -> Result<V, E>,
                ) -> Result<(Episode<Execute>, V), ExecuteError<$state, C, E>> {
                    let (episode, [task]) = moves::execute::$send(self, [order.into_order()]).map_err(ExecuteError::Refused)?;
                    settle_one(episode, run(task, tool))
                }

                /// Like `execute_with`, for an async tool. If the future is dropped, the episode is dropped too, and
                /// its drop policy applies; see [`OnDrop`](super::OnDrop).
                ///
                /// # Errors
                /// Same as `execute_with`.
                pub async fn execute_with_async<C $(: $class)?, V: Serialize, E: fmt::Display>(
                    self,
                    order: impl IntoOrder<C>,
                    tool: impl AsyncFnOnce(&Running) -> Result<V, E>,
                ) -> Result<(Episode<Execute>, V), ExecuteError<$state, C, E>> {
                    let (episode, [task]) = moves::execute::$send(self, [order.into_order()]).map_err(ExecuteError::Refused)?;
                    settle_one(episode, run_async(task, tool).await)
                }

                /// Sends directives, calls the tool for each in turn, even after a failure, and records all results.
                /// The outcomes are returned in the order of the directives.
                ///
                /// # Errors
                /// A refused directive, as for `.execute([..])`: none is sent, and no tool is called.
                pub fn execute_each<C $(: $class)?, V: Serialize, E: fmt::Display, const N: usize>(
                    self,
                    orders: impl IntoOrders<C, N>,
                    mut tool: impl FnMut(&Running) -> Result<V, E>,
                ) -> Result<(Episode<Execute>, [Result<V, TaskError<E>>; N]), EachError<$state, C, N>>
                where
                    [(); N]: super::SomeOrders,
                {
                    let (episode, tasks) = moves::execute::$send(self, orders).map_err(EachError::Refused)?;
                    settle_each(episode, tasks.into_iter().map(|task| run(task, &mut tool)).collect())
                }

                /// Like `execute_each`, for async tools, which are awaited one after the other.
                ///
                /// # Errors
                /// Same as `execute_each`.
                pub async fn execute_each_async<C $(: $class)?, V: Serialize, E: fmt::Display, const N: usize>(
                    self,
                    orders: impl IntoOrders<C, N>,
                    mut tool: impl AsyncFnMut(&Running) -> Result<V, E>,
                ) -> Result<(Episode<Execute>, [Result<V, TaskError<E>>; N]), EachError<$state, C, N>>
                where
                    [(); N]: super::SomeOrders,
                {
                    let (episode, tasks) = moves::execute::$send(self, orders).map_err(EachError::Refused)?;
                    let mut done = Vec::with_capacity(N);
                    for task in tasks {
                        done.push(run_async(task, &mut tool).await);
                    }
                    settle_each(episode, done)
                }
            }
        )*
    };
}
executes! {
    Decide<Act>: from_act (ReadsAtOnce);
    Authorize: from_authorize (WritesFirst);
    Execute: more;
}

impl<S, E: fmt::Display> From<Failed<S, E>> for Halt {
    fn from(failed: Failed<S, E>) -> Self {
        let why = Arc::new(Refusal::Tool(failed.error.to_string()));
        Self { why, episode: Box::new(failed.episode.into_any()) }
    }
}

macro_rules! errors {
    ($($error:ident<$($parameter:ident $(: $bound:ident)?),* $(; $number:ident)?> {
        $($variant:ident),*
    } shown [$($shown:ident)?];)*) => {
        $(
            impl<$($parameter $(: $bound)?,)* $(const $number: usize)?> From<$error<$($parameter,)* $($number)?>> for Halt
            $(where $shown: fmt::Display)?
            {
                fn from(error: $error<$($parameter,)* $($number)?>) -> Self {
                    match error {
                        $($error::$variant(inner) => inner.into(),)*
                    }
                }
            }

            impl<$($parameter $(: $bound)?,)* $(const $number: usize)?> fmt::Display for $error<$($parameter,)* $($number)?>
            $(where $shown: fmt::Display)?
            {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    match self {
                        $(Self::$variant(inner) => fmt::Display::fmt(inner, f),)*
                    }
                }
            }

            // Not derived, because derived impls would add bounds to the states.
            impl<$($parameter $(: $bound)?,)* $(const $number: usize)?> fmt::Debug for $error<$($parameter,)* $($number)?>
            $(where $shown: fmt::Debug)?
            {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    match self {
                        $(Self::$variant(inner) => fmt::Debug::fmt(inner, f),)*
                    }
                }
            }

            impl<$($parameter $(: $bound)?,)* $(const $number: usize)?> std::error::Error for $error<$($parameter,)* $($number)?>
            $(where $shown: fmt::Debug + fmt::Display)?
            {
            }
        )*
    };
}
errors! {
    ExecuteError<S, C, E> { Refused, Settling, Failed } shown [E];
    LoopError<P: Progress, O, T, C, E> { Refused, Settling, Failed } shown [E];
    EachError<S, C; N> { Refused, Settling } shown [];
}

impl<S, E: fmt::Display> fmt::Display for Failed<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<S, E: fmt::Debug> fmt::Debug for Failed<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failed").field("episode", &self.episode).field("error", &self.error).finish()
    }
}

impl<S, E: fmt::Debug + fmt::Display> std::error::Error for Failed<S, E> {}
