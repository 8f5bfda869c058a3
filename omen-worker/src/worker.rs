//! `omen worker`: judges the partitions that are assigned to it, until it is stopped.

mod assignment;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use omen::validator::ValidatorOptions;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::{Instrument as _, info, warn};

use self::assignment::Assignment;
use crate::connect::Server;
use crate::failure::Failure;
use crate::membership::{self, Agreement, WorkerLease};
use crate::metrics::Metrics;
use crate::names;
use crate::partition::commit::{self, Commit};
use crate::partition::{Checkpoints, MarksOfTime, WorkerContext};
use crate::serve::serve;
use crate::setup::Setup;
use crate::stream::broker::Broker;
use crate::stream::bucket::Bucket;
use crate::stream::link::Link;

/// Options of a worker.
#[derive(Clone)]
pub struct Options {
    /// The streams, and the number of partitions.
    pub setup: Setup,
    /// Options of the validator, which all workers must share.
    pub validator: ValidatorOptions,
    /// Time without a message after which an episode ends.
    pub episode_ttl: Option<Duration>,
    /// Interval between time marks in the streams of packets, if `episode_ttl` is set.
    pub tick: Duration,
    /// Whether the worker continues where packets were deleted before they were judged.
    pub accepts_gaps: bool,
    /// Whether to judge the streams again with these rules and this `episode_ttl`. Workers with other rules then stop.
    pub judges_again: bool,
    /// Address of `/metrics`, `/livez` and `/readyz`.
    pub listen: Option<SocketAddr>,
    /// Unique name of the worker, of letters, digits, `_` and `-`. `None` generates one.
    pub id: Option<String>,
}

/// Runs a worker until `stop` is ready, then commits the remaining findings.
///
/// # Errors
/// If the server is unreachable, or a stream on it is unsuitable. A connection that is lost later is re-established.
pub async fn run(server: &Server, options: Options, stop: impl Future<Output = ()>) -> Result<(), Failure> {
    let Options { setup, validator, episode_ttl, tick, accepts_gaps, judges_again, listen, id } = options;
    if let Some(id) = id.as_ref().filter(|id| !names::is_plain(id)) {
        return Err(Failure::Input(format!("invalid name of a worker `{id}`; expected letters, digits, `_` and `-`")));
    }
    let link = Link::new();
    let client = server.link("omen worker", link.clone()).await?;
    let found = client.server_info().max_payload;
    if found < LEAST_PAYLOAD {
        return Err(Failure::Refused(format!(
            "`max_payload` of the server is {found} bytes; expected at least {LEAST_PAYLOAD}, so that each commit fits"
        )));
    }
    let context = server.jetstream(client);
    let broker = server.broker(context.clone());
    let id = id.unwrap_or_else(|| unique(&broker.unique()));
    // Findings are checked first, so that nothing is created where an earlier version has run.
    setup.findings(&context).await?;
    let partitions = setup.packets(&context).await?;
    setup.buckets(&context).await?;
    let metrics = Arc::new(Metrics::new(partitions, link.clone()));
    let _endpoints = match listen {
        None => None,
        Some(address) => {
            let listener = TcpListener::bind(address)
                .await
                .map_err(|error| Failure::Input(format!("cannot listen on {address}: {error}")))?;
            if let Ok(address) = listener.local_addr() {
                info!(%address, "metrics at http://{address}/metrics");
            }
            Some(AbortOnDrop(tokio::spawn(serve(listener, Arc::clone(&metrics)).in_current_span())))
        }
    };
    let idle_seconds = episode_ttl.map(|ttl| ttl.as_secs());
    let shared = Arc::new(WorkerContext {
        state: Bucket::new(broker.clone(), &setup.names.state),
        broker,
        link,
        names: setup.names.clone(),
        partitions,
        agreement: Agreement::new(&validator, idle_seconds),
        options: validator,
        marks: episode_ttl
            .map(|ttl| MarksOfTime { every: tick.min(ttl / 4).max(membership::BEAT), idle_seconds: ttl.as_secs() }),
        accepts_gaps,
        id,
        metrics,
    });
    if judges_again {
        judge_again(&shared).await?;
    }
    work(shared, stop, || setup.buckets(&context)).await
}

/// Replaces the rules of all workers by those of this one.
async fn judge_again<B: Broker>(shared: &WorkerContext<B>) -> Result<(), Failure> {
    let WorkerContext { broker, state, agreement, names, partitions, .. } = shared;
    // An unreadable commit stops this worker. It must not stop the others as well.
    for partition in 0..*partitions {
        commit::last(broker, &names.findings, partition).await?;
    }
    agreement.replace(state).await?;
    // The agreement has been replaced, so a worker whose commit is refused finds the new one.
    for partition in 0..*partitions {
        let mut checkpoints =
            Checkpoints::new(broker.clone(), state.clone(), (partition, *partitions), agreement.hash());
        let judged = checkpoints.last_judged().await?;
        let known = Commit {
            version: Commit::VERSION,
            seen: judged,
            partitions: *partitions,
            sequence: judged.map_or(0, |judged| judged.sequence),
            findings_of_last: None,
            agreement: agreement.hash(),
            worker: shared.id.clone(),
        };
        commit::renew(broker, &names.findings, partition, &known).await?;
    }
    Ok(())
}

/// Renews this worker's lease and judges its partitions until `stop` is ready. `restore` creates missing buckets.
pub(crate) async fn work<B: Broker, R: Future<Output = Result<(), Failure>>>(
    shared: Arc<WorkerContext<B>>,
    stop: impl Future<Output = ()>,
    restore: impl Fn() -> R,
) -> Result<(), Failure> {
    let WorkerContext { broker, link, state, agreement, metrics, id, names, partitions, .. } = &*shared;
    agreement.join_at_last(state).await?;
    let lease = WorkerLease::new(Bucket::new(broker.clone(), &names.workers), id);
    info!(worker = id, partitions, "worker {id}: judging packets of `{}`, in {partitions} partitions", names.prefix);
    let mut assignment = Assignment::new(Arc::clone(&shared));
    let mut beat = interval(membership::BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut changes = link.changes();
    tokio::pin!(stop);
    let mut ended = None;
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            _ = beat.tick() => {}
            // On a new connection, the worker renews its lease at once, because it may be about to expire.
            () = changes.next() => {}
        }
        metrics.alive();
        assignment.collect();
        link.check(broker.is_connected());
        if !link.is_up() {
            // The partitions stay assigned. If others take them over, this worker's commits are refused.
            continue;
        }
        let begun = tokio::select! {
            biased;
            begun = timeout(ANSWER, async { tokio::join!(lease.renew(), agreement.join(state)) }) => begun,
            () = link.lost() => continue,
            () = &mut stop => break,
        };
        match begun {
            // Another worker judges the streams again, under other rules.
            Ok((_, Err(refused @ Failure::Refused(_)))) => {
                ended = Some(refused);
                break;
            }
            Ok((Ok(members), Ok(()))) => {
                metrics.beat(members.len());
                assignment.assign(&membership::owned(id, &members, *partitions));
            }
            // Another worker was the first to record its rules.
            Ok((_, Err(Failure::Fenced(_)))) => {}
            Ok((Err(failure), _) | (_, Err(failure))) => {
                warn!("{failure}");
                // The buckets may have been deleted.
                if let Ok(Err(failure)) = timeout(ANSWER, restore()).await {
                    warn!("{failure}");
                }
            }
            Err(_) => warn!("the server is not responding"),
        }
    }
    metrics.draining();
    info!("stopping: committing what was judged");
    let uncommitted = |why: String| Failure::Server { what: "commit everything before the end".to_owned(), why };
    let left = timeout(DRAIN, assignment.stop()).await;
    // The others take over at once.
    let _ = timeout(membership::BEAT, lease.end()).await;
    if let Some(refused) = ended {
        return Err(refused);
    }
    match left {
        Ok(Ok(())) if link.is_up() => Ok(()),
        Ok(Ok(())) => Err(uncommitted("the connection was lost".to_owned())),
        Ok(Err(Failure::Server { why, .. })) => Err(uncommitted(why)),
        Ok(Err(failure)) => Err(uncommitted(failure.to_string())),
        Err(_) => Err(uncommitted("the server is not responding".to_owned())),
    }
}

/// A task that is aborted when its owner is dropped.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Returns a unique name, which begins with the name of the machine if it is known.
fn unique(random: &str) -> String {
    let random: String = random.chars().rev().take(8).filter(char::is_ascii_alphanumeric).collect();
    let host = std::env::var("HOSTNAME").ok().filter(|host| names::is_plain(host) && host.len() <= 48);
    format!("{}-{random}", host.as_deref().unwrap_or("worker"))
}

/// Minimum message limit of a server, in bytes: half of the default, with room for the longest finding.
const LEAST_PAYLOAD: usize = 512 * 1024;

/// Timeout for renewing the entry. The renewal is repeated before the entry expires.
const ANSWER: Duration = Duration::from_millis(2_500);

/// Time for partitions to commit when the worker stops.
const DRAIN: Duration = Duration::from_secs(20);
