//! `omen worker`: judges the partitions that fall to it, until it is stopped.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use omen::validator::ValidatorOptions;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::batch::{self, Outgoing};
use crate::connect::Server;
use crate::failure::Failure;
use crate::feed::Feed;
use crate::judge::Tick;
use crate::members::{self, Members};
use crate::metrics::Metrics;
use crate::setup::Setup;
use crate::shared::{BATCHES, Shared};
use crate::{http, names, partition};

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
    let Options { setup, validator, episode_ttl, tick, accepts_gaps, listen, id, notice } = options;
    if let Some(id) = id.as_ref().filter(|id| !is_name(id)) {
        return Err(Failure::Input(format!("invalid name of a worker `{id}`; expected letters, digits, `_` and `-`")));
    }
    let metrics = Arc::new(Metrics::new(setup.partitions));
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
    let changed = {
        let (metrics, notice) = (Arc::clone(&metrics), Arc::clone(&notice));
        move |what: &str| {
            metrics.connected(what.is_empty());
            if !what.is_empty() {
                notice(what);
            }
        }
    };
    let client = server.connect("omen worker", changed).await?;
    metrics.connected(true);
    let id = id.unwrap_or_else(|| unique(&client.new_inbox()));
    let context = server.jetstream(client);
    let packets = setup.packets(&context).await?;
    let shared = Arc::new(Shared {
        feed: Feed::new(context.clone(), packets.clone()),
        packets,
        findings: setup.findings(&context).await?,
        bucket: setup.bucket(&context).await?,
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
    let mut crew = Crew { shared, running: BTreeMap::new(), leaving: JoinSet::new() };
    let mut beat = interval(members::BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(stop);
    loop {
        tokio::select! {
            _ = beat.tick() => {}
            () = &mut stop => break,
        }
        metrics.alive();
        match timeout(members::LEASE, members.beat()).await {
            Ok(Ok(members)) => {
                metrics.beat(members.len());
                crew.assign(&members::owned(&id, &members, setup.partitions));
                // One of them is enough. Where two believe that they are the first, there is a mark more.
                if members.first() == Some(&id) { clock.mark().await } else { clock.rest() }
            }
            // The partitions stay where they are: without the server nobody can take them.
            Ok(Err(failure)) => notice(&failure.to_string()),
            Err(_) => notice("the server does not answer"),
        }
        crew.collect();
    }
    metrics.draining();
    notice("stopping: committing what was judged");
    let left = timeout(DRAIN, crew.stop()).await;
    // The others take over at once.
    let _ = timeout(members::BEAT, members.leave()).await;
    left.map_err(|_| Failure::Server {
        what: "commit everything before the end".to_owned(),
        why: "the server does not answer".to_owned(),
    })
}

/// The partitions that are judged here.
struct Crew {
    shared: Arc<Shared>,
    running: BTreeMap<u16, (watch::Sender<bool>, JoinHandle<()>)>,
    leaving: JoinSet<()>,
}

impl Crew {
    /// Begins what is new, and lets go what others have now.
    fn assign(&mut self, owned: &std::collections::BTreeSet<u16>) {
        for (_, (stop, task)) in self.running.extract_if(.., |partition, _| !owned.contains(partition)) {
            let _ = stop.send(true);
            self.leaving.spawn(async move { drop(task.await) });
        }
        for partition in owned {
            // A task ends by itself only if it panics.
            if self.running.get(partition).is_some_and(|(_, task)| !task.is_finished()) {
                continue;
            }
            let (stop, stopped) = watch::channel(false);
            let (shared, partition) = (Arc::clone(&self.shared), *partition);
            let task = tokio::spawn(async move { partition::run(&shared, partition, stopped).await });
            self.running.insert(partition, (stop, task));
        }
    }

    /// Forgets the tasks that have ended.
    fn collect(&mut self) {
        while self.leaving.try_join_next().is_some() {}
    }

    async fn stop(&mut self) {
        self.assign(&std::collections::BTreeSet::new());
        while self.leaving.join_next().await.is_some() {}
    }
}

/// Marks time in the stream of packets. The time itself is that of the server: this worker only measures how long ago it sent the
/// last mark, so its clock may be set to anything.
struct Clock<'c> {
    context: &'c Context,
    every: Duration,
    /// When the last mark was sent, or the worker began to send them.
    last: Option<Instant>,
    body: Vec<u8>,
}

impl<'c> Clock<'c> {
    fn new(context: &'c Context, tick: Duration, episode_ttl: Option<Duration>) -> Self {
        let every = episode_ttl.map_or(tick, |ttl| tick.min(ttl / 4)).max(members::BEAT);
        let idle_seconds = episode_ttl.map(|ttl| u32::try_from(ttl.as_secs()).unwrap_or(u32::MAX));
        Self { context, every, last: None, body: serde_json::to_vec(&Tick { idle_seconds }).unwrap_or_default() }
    }

    /// To be called as long as this worker is the one that marks time.
    async fn mark(&mut self) {
        // Another one may have marked it a moment ago.
        if self.last.get_or_insert_with(Instant::now).elapsed() < self.every {
            return;
        }
        self.last = Some(Instant::now());
        let mark =
            Outgoing { subject: names::TICK.to_owned(), headers: HeaderMap::new(), body: self.body.clone().into() };
        // Another one follows.
        let _ = batch::store(self.context, vec![mark], "the time").await;
    }

    /// To be called when another worker marks time.
    fn rest(&mut self) {
        self.last = None;
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

/// How long the partitions may take to commit at the end.
const DRAIN: Duration = Duration::from_secs(20);
