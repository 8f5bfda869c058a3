//! `omen worker`: judges the partitions that fall to it, until it is stopped.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use omen::validator::ValidatorOptions;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::agreement::Agreement;
use crate::clock::Clock;
use crate::commit::{self, Commit};
use crate::connect::Server;
use crate::crew::Crew;
use crate::failure::Failure;
use crate::feed::Feed;
use crate::http;
use crate::link::Link;
use crate::members::{self, Members};
use crate::metrics::Metrics;
use crate::reader::Readers;
use crate::setup::Setup;
use crate::shared::{BATCHES, Shared};

/// What a worker is to do.
#[derive(Clone)]
pub struct Options {
    /// The streams, and how many partitions.
    pub setup: Setup,
    /// How packets are judged. All workers must have the same.
    pub validator: ValidatorOptions,
    /// Episodes without a message in this time end.
    pub episode_ttl: Option<Duration>,
    /// How often time is marked in the stream of packets.
    pub tick: Duration,
    /// Whether packets that were deleted before they were judged are no reason to stop.
    pub accepts_gaps: bool,
    /// Whether the stream is judged again if other workers have judged it with other rules or another time, which they stop to do then.
    pub judges_again: bool,
    /// Where `/metrics`, `/livez` and `/readyz` are.
    pub listen: Option<SocketAddr>,
    /// The name of the worker, of letters, digits, `_` and `-`. No two may have the same. Without one, it has one that nobody else has.
    pub id: Option<String>,
    /// Receives what a person should know.
    pub notice: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Works until `stop` is ready, and then commits what it has judged.
///
/// # Errors
/// If the server cannot be reached, or has what cannot be used. A connection that breaks later is made again.
pub async fn run(server: &Server, options: Options, stop: impl Future<Output = ()>) -> Result<(), Failure> {
    let Options { setup, validator, episode_ttl, tick, accepts_gaps, judges_again, listen, id, notice } = options;
    if let Some(id) = id.as_ref().filter(|id| !is_name(id)) {
        return Err(Failure::Input(format!("invalid name of a worker `{id}`; expected letters, digits, `_` and `-`")));
    }
    let link = Link::new();
    let metrics = Arc::new(Metrics::new(setup.partitions, link.clone()));
    let _endpoints = match listen {
        None => None,
        Some(address) => {
            let listener = TcpListener::bind(address)
                .await
                .map_err(|error| Failure::Input(format!("cannot listen on {address}: {error}")))?;
            if let Ok(address) = listener.local_addr() {
                notice(&format!("metrics at http://{address}/metrics"));
            }
            Some(Aborted(tokio::spawn(http::serve(listener, Arc::clone(&metrics)))))
        }
    };
    let connection = Arc::clone(&notice);
    let client = server.link("omen worker", link.clone(), move |what| connection(what)).await?;
    let id = id.unwrap_or_else(|| unique(&client.new_inbox()));
    let context = server.jetstream(client.clone());
    let packets = setup.packets(&context).await?;
    let bucket = setup.bucket(&context).await?;
    let agreement = Agreement::of(&validator, episode_ttl.map(|ttl| ttl.as_secs()));
    let findings = setup.findings(&context).await?;
    if judges_again {
        // A commit that cannot be read stops this worker. It must not stop the others, too.
        for partition in 0..setup.partitions {
            commit::last(&findings, partition).await?;
        }
        agreement.replace(&bucket).await?;
        // In this order: a worker whose commit is refused finds the new agreement.
        for partition in 0..setup.partitions {
            let (stream, agreement) = (setup.names.packets.clone(), agreement.hash());
            let (version, partitions) = (Commit::VERSION, setup.partitions);
            let empty =
                Commit { version, stream, partition, partitions, agreement, worker: id.clone(), ..Commit::default() };
            commit::renew(&context, &findings, &empty).await?;
        }
    }
    agreement.join(&bucket).await?;
    let readers = Readers {
        context: context.clone(),
        packets: packets.clone(),
        link: link.clone(),
        roster: Arc::default(),
        accepts_gaps,
        metrics: Arc::clone(&metrics),
        notice: Arc::clone(&notice),
        loading: watch::Sender::new(0),
    };
    let shared = Arc::new(Shared {
        feed: Feed::of(readers),
        link: link.clone(),
        packets,
        findings,
        bucket: bucket.clone(),
        agreement: agreement.clone(),
        names: setup.names.clone(),
        partitions: setup.partitions,
        options: validator,
        accepts_gaps,
        id: id.clone(),
        metrics: Arc::clone(&metrics),
        batches: Semaphore::new(BATCHES),
        notice: Arc::clone(&notice),
        context: context.clone(),
    });
    let members = Members::new(setup.members(&context).await?, &id);
    notice(&format!("worker {id}: judging packets of `{}`", setup.names.packets));
    let mut clock = Clock::new(&context, tick, episode_ttl);
    let mut crew = Crew::new(shared);
    let mut beat = interval(members::BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut changes = link.changes();
    tokio::pin!(stop);
    let mut ended = None;
    loop {
        tokio::select! {
            _ = beat.tick() => {}
            // On a new connection it says at once that it is alive: its entry may be about to expire.
            () = changes.next() => {}
            () = &mut stop => break,
        }
        metrics.alive();
        crew.collect();
        link.check(&client);
        if !link.is_up() {
            // The partitions stay where they are. If others take them, the commits of this worker are refused.
            continue;
        }
        let begun = tokio::select! {
            begun = timeout(ANSWER, async { tokio::join!(members.beat(), agreement.join(&bucket)) }) => begun,
            () = link.lost() => continue,
            () = &mut stop => break,
        };
        let begun = match begun {
            // Another worker judges the stream again, with other rules.
            Ok((_, Err(refused @ Failure::Refused(_)))) => {
                ended = Some(refused);
                break;
            }
            Ok((begun, _)) => Ok(begun),
            Err(late) => Err(late),
        };
        match begun {
            Ok(Ok(members)) => {
                metrics.beat(members.len());
                crew.assign(&members::owned(&id, &members, setup.partitions));
                // One of them is enough. Where two believe that they are the first, there is a mark more.
                if members.first() == Some(&id) {
                    // If it takes longer, it is stored or not; another one follows.
                    let _ = timeout(ANSWER, clock.mark()).await;
                } else {
                    clock.rest();
                }
            }
            Ok(Err(failure)) => notice(&failure.to_string()),
            Err(_) => notice("the server does not answer"),
        }
    }
    metrics.draining();
    notice("stopping: committing what was judged");
    let uncommitted = |why: String| Failure::Server { what: "commit everything before the end".to_owned(), why };
    let left = timeout(DRAIN, crew.stop()).await;
    // The others take over at once.
    let _ = timeout(members::BEAT, members.leave()).await;
    if let Some(refused) = ended {
        return Err(refused);
    }
    match left {
        Ok(Ok(())) if link.is_up() => Ok(()),
        Ok(Ok(())) => Err(uncommitted("the connection was lost".to_owned())),
        Ok(Err(Failure::Server { why, .. })) => Err(uncommitted(why)),
        Ok(Err(failure)) => Err(uncommitted(failure.to_string())),
        Err(_) => Err(uncommitted("the server does not answer".to_owned())),
    }
}

/// A task that ends with its owner.
struct Aborted(JoinHandle<()>);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn is_name(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 64
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A name that no other worker has, with that of the machine if it is known.
fn unique(inbox: &str) -> String {
    let random: String = inbox.chars().rev().take(8).filter(char::is_ascii_alphanumeric).collect();
    let host = std::env::var("HOSTNAME").ok().filter(|host| is_name(host) && host.len() <= 48);
    format!("{}-{random}", host.as_deref().unwrap_or("worker"))
}

/// How long a sign of life may take. It is repeated before the one before it expires.
const ANSWER: Duration = Duration::from_millis(2_500);

/// How long the partitions may take to commit at the end.
const DRAIN: Duration = Duration::from_secs(20);
