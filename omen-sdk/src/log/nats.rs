//! Log of an agent on a NATS server.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{Error, ErrorKind, Result};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{ConnectOptions, HeaderMap, header};
use bytes::Bytes;
use futures_util::StreamExt as _;
use omen_fsm::episode::{AnyEpisode, Line, Log, ResumeError, Setup};
use omen_types::CorrelationId;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use super::batch::{self, NotStored, Outgoing};
use super::subject::{PACKETS, PARTITIONS_KEY, packets_of, partition_of};

/// Log in streams of NATS JetStream, whose packets `omen worker` judges; see `docs/scale.md`. Each episode is in one stream. A
/// step succeeds once the server has stored all its packets; otherwise, it fails and none is stored. Clones share one connection.
///
/// An episode has one writer. Each step expects the last packet that this log has stored for the episode, so the server
/// refuses the packets of a second writer, wherever it runs.
///
/// Every step blocks its thread until the server responds, for some seconds at most, just as a log in a file waits for
/// the disk. If no response arrives, the step may be in the stream; [`resume`](Self::resume) determines whether it is.
#[derive(Clone, Debug)]
pub struct Nats(UnboundedSender<Job>);

/// Request to the connection's thread.
#[derive(Debug)]
enum Job {
    /// Checks for packets of an episode.
    Holds(String, SyncSender<Result<bool>>),
    /// Stores the packets of a step.
    Append(String, Vec<Bytes>, SyncSender<Result<()>>),
    /// Reads the packets of an episode.
    Lines(String, SyncSender<Result<Vec<String>>>),
}

impl Nats {
    /// Connects to a server.
    ///
    /// # Errors
    /// If the server is unreachable or has no streams of packets; `omen worker` and `omen publish` create these.
    pub fn connect(addresses: &str) -> Result<Self> {
        Self::connect_with(addresses, ConnectOptions::new())
    }

    /// Connects with credentials, TLS and other options.
    ///
    /// # Errors
    /// Same as [`connect`](Self::connect).
    pub fn connect_with(addresses: &str, options: ConnectOptions) -> Result<Self> {
        let addresses: Vec<String> = addresses.split(',').map(|address| address.trim().to_owned()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (jobs, receiver) = unbounded_channel();
        let (report, connected) = sync_channel(1);
        thread::Builder::new().name("omen-log".to_owned()).spawn(move || {
            runtime.block_on(async {
                match Connection::open(addresses, options).await {
                    Ok(connection) => {
                        let _ = report.send(Ok(()));
                        connection.serve(receiver).await;
                    }
                    Err(error) => drop(report.send(Err(error))),
                }
            });
        })?;
        connected.recv().map_err(gone)??;
        Ok(Self(jobs))
    }

    /// Resumes the episode of `setup` at the end of its packets in the stream, or begins it if there are none.
    ///
    /// # Errors
    /// The inner error is that of [`AnyEpisode::resume`]; the outer one means that the stream cannot be read.
    pub fn resume(&self, setup: Setup) -> Result<std::result::Result<AnyEpisode, ResumeError>> {
        let id = setup.correlation_id().as_str().to_owned();
        let lines = self.ask(|answer| Job::Lines(id, answer))?;
        Ok(AnyEpisode::resume(setup.log(self.clone()), lines.iter().map(String::as_str)))
    }

    fn ask<T>(&self, job: impl FnOnce(SyncSender<Result<T>>) -> Job) -> Result<T> {
        let (sender, answer) = sync_channel(1);
        self.0.send(job(sender)).map_err(gone)?;
        answer.recv().map_err(gone)?
    }
}

impl Log for Nats {
    fn append(&mut self, lines: &[Line<'_>]) -> Result<()> {
        let Some(first) = lines.first() else { return Ok(()) };
        let bodies = lines.iter().map(|line| Bytes::copy_from_slice(line.text.as_bytes())).collect();
        self.ask(|answer| Job::Append(first.correlation_id.as_str().to_owned(), bodies, answer))
    }

    fn holds(&self, episode: &CorrelationId) -> bool {
        // Without a response, it is unknown. If there are packets, the first step fails, because it expects none.
        self.ask(|answer| Job::Holds(episode.as_str().to_owned(), answer)).unwrap_or(false)
    }
}

/// Connection, and the positions of its episodes.
struct Connection {
    context: Context,
    /// Prefix of the stream names; the partition number follows.
    prefix: String,
    partitions: u16,
    /// Sequence number of the last packet of each episode that is written or was resumed here.
    last: HashMap<String, u64>,
}

impl Connection {
    async fn open(addresses: Vec<String>, options: ConnectOptions) -> Result<Self> {
        let options = options.request_timeout(Some(ANSWER));
        let client = options.connect(addresses).await.map_err(|error| failed("connect to the server", &error))?;
        let context = jetstream::new(client);
        let what = "find the streams of packets";
        let name = context.stream_by_subject(format!("{PACKETS}.0.*")).await.map_err(|error| failed(what, &error))?;
        let first = context.get_stream(&name).await.map_err(|error| failed(what, &error))?;
        let partitions = first.cached_info().config.metadata.get(PARTITIONS_KEY).and_then(|count| count.parse().ok());
        let (Some(prefix), Some(partitions)) = (name.strip_suffix('0'), partitions) else {
            return Err(failed(what, &format!("the stream `{name}` was not made by `omen worker` or `omen publish`")));
        };
        Ok(Self { prefix: prefix.to_owned(), partitions, context, last: HashMap::new() })
    }

    async fn stream(&self, id: &str) -> Result<Stream> {
        let name = format!("{}{}", self.prefix, partition_of(id, self.partitions));
        self.context.get_stream(name).await.map_err(|error| failed(READ, &error))
    }

    /// Serves requests until the last log is dropped.
    async fn serve(mut self, mut jobs: UnboundedReceiver<Job>) {
        while let Some(job) = jobs.recv().await {
            // Sending fails only if the caller no longer waits.
            match job {
                Job::Holds(id, answer) => drop(answer.send(self.last(&id).await.map(|last| last > 0))),
                Job::Append(id, lines, answer) => drop(answer.send(self.append(id, lines).await)),
                Job::Lines(id, answer) => drop(answer.send(self.lines(id).await)),
            }
        }
    }

    async fn append(&mut self, id: String, lines: Vec<Bytes>) -> Result<()> {
        let subject = packets_of(&id, self.partitions);
        let messages = lines.into_iter().zip(0..).map(|(body, number)| {
            let mut headers = HeaderMap::new();
            if number == 0 {
                let last = self.last.get(&id).copied().unwrap_or(0);
                headers.insert(header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, last.to_string());
            }
            Outgoing { subject: subject.clone(), headers, body }
        });
        match batch::store(&self.context, messages.collect()).await {
            Ok(sequence) => {
                self.last.insert(id, sequence);
                Ok(())
            }
            Err(NotStored::Unexpected) => Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("another writer has published packets of the episode `{id}`"),
            )),
            Err(NotStored::Failed(why)) => Err(failed("publish the packets of a step", &why)),
        }
    }

    /// Returns the sequence number of the last packet of an episode, or 0 if it has none.
    async fn last(&self, id: &str) -> Result<u64> {
        let subject = packets_of(id, self.partitions);
        match self.stream(id).await?.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => Ok(message.sequence),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(0),
            Err(error) => Err(failed(READ, &error)),
        }
    }

    async fn lines(&mut self, id: String) -> Result<Vec<String>> {
        let (last, mut lines) = (self.last(&id).await?, Vec::new());
        if last > 0 {
            let config = pull::OrderedConfig {
                filter_subject: packets_of(&id, self.partitions),
                deliver_policy: DeliverPolicy::All,
                ..pull::OrderedConfig::default()
            };
            let stream = self.stream(&id).await?;
            let consumer = stream.create_consumer(config).await.map_err(|error| failed(READ, &error))?;
            let mut messages = consumer.messages().await.map_err(|error| failed(READ, &error))?;
            loop {
                let message = timeout(ANSWER, messages.next()).await.map_err(|error| failed(READ, &error))?;
                let Some(message) = message else { break };
                let message = message.map_err(|error| failed(READ, &error))?;
                lines.push(String::from_utf8_lossy(&message.payload).into_owned());
                if message.info().map_err(|error| failed(READ, &error))?.stream_sequence >= last {
                    break;
                }
            }
        }
        self.last.insert(id, last);
        Ok(lines)
    }
}

fn failed(what: &str, why: &dyn Display) -> Error {
    Error::other(format!("cannot {what}: {why}"))
}

fn gone<E>(_: E) -> Error {
    Error::new(ErrorKind::NotConnected, "the thread of the connection has stopped")
}

/// Response timeout.
const ANSWER: Duration = Duration::from_secs(10);

const READ: &str = "read the packets of an episode";
