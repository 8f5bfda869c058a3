//! Metrics of a worker, in the text format of Prometheus.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use omen::{Code, Severity};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::time::Instant;

use crate::setup::LEASE;
use crate::stream::link::Link;

/// State of a partition on this worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PartitionState {
    /// Another worker owns the partition.
    #[default]
    Elsewhere,
    /// The checkpoint and the last commit are being read.
    Loading,
    /// The partition is being judged.
    Owned,
    /// The partition failed, and is retried after a pause.
    Failed,
}

#[derive(Debug, Default)]
struct Partition {
    state: PartitionState,
    /// Time of the oldest uncommitted finding.
    uncommitted: Option<Instant>,
    /// Number of refused commits since the last one stored.
    fences: u32,
    checkpoint: Option<Instant>,
}

impl Partition {
    /// Returns whether the partition makes no progress. A worker that has lost its partition notices after one or two refusals.
    fn is_fenced(&self) -> bool {
        self.state != PartitionState::Elsewhere && self.fences >= FENCES
    }
}

/// Number of consecutive refused commits after which a partition has failed.
pub(crate) const FENCES: u32 = 3;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PartitionLabels {
    partition: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FindingLabels {
    severity: &'static str,
    code: &'static str,
}

type Seconds = Gauge<f64, AtomicU64>;

/// Metrics of a worker, and the state that its health endpoints report.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    partitions: Mutex<Vec<Partition>>,
    up: Family<PartitionLabels, Gauge>,
    lag: Family<PartitionLabels, Gauge>,
    packets: Family<PartitionLabels, Counter>,
    episodes: Family<PartitionLabels, Gauge>,
    uncommitted: Family<PartitionLabels, Seconds>,
    checkpoint_age: Family<PartitionLabels, Seconds>,
    checkpoint_bytes: Family<PartitionLabels, Gauge>,
    all_checkpoint_bytes: Counter,
    findings: Family<FindingLabels, Counter>,
    commits: Counter,
    fenced: Counter,
    missed: Counter,
    members: Gauge,
    connected: Gauge,
    disconnects: Gauge,
    link: Link,
    is_draining: AtomicBool,
    beat: Mutex<Option<Instant>>,
    /// Time at which the main loop of the worker last completed a round.
    alive: Mutex<Instant>,
}

fn register<M: prometheus_client::registry::Metric + Clone + Default>(
    registry: &mut Registry,
    name: &str,
    help: &str,
) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Metrics {
    pub(crate) fn new(partitions: u16, link: Link) -> Self {
        let mut all = Registry::with_prefix("omen");
        let registry = &mut all;
        Self {
            partitions: Mutex::new((0..partitions).map(|_| Partition::default()).collect()),
            up: register(registry, "partition_up", "Whether the worker is judging a partition that it owns"),
            lag: register(
                registry,
                "partition_lag",
                "Messages in the stream of the partition that are not judged and committed yet",
            ),
            packets: register(registry, "packets", "Messages that were judged"),
            episodes: register(registry, "episodes_open", "Episodes that have not ended"),
            uncommitted: register(
                registry,
                "uncommitted_age_seconds",
                "Age of the oldest finding that is not committed",
            ),
            checkpoint_age: register(registry, "checkpoint_age_seconds", "Time since the last checkpoint"),
            checkpoint_bytes: register(registry, "checkpoint_bytes", "Bytes of the last checkpoint"),
            all_checkpoint_bytes: register(registry, "checkpoints_bytes", "Bytes of all checkpoints"),
            findings: register(registry, "findings", "Findings that were published"),
            commits: register(registry, "commits", "Commits that the server accepted"),
            fenced: register(
                registry,
                "fenced",
                "Commits and checkpoints that the server refused because another worker owns the partition",
            ),
            missed: register(
                registry,
                "missed_messages",
                "Messages that were deleted before they were judged, with --accept-gaps",
            ),
            members: register(registry, "workers", "Workers that are alive"),
            connected: register(registry, "connected", "Whether the worker is connected to the server"),
            disconnects: register(registry, "disconnects", "Connections that were lost"),
            registry: all,
            link,
            is_draining: AtomicBool::default(),
            beat: Mutex::default(),
            alive: Mutex::new(Instant::now()),
        }
    }

    fn partitions(&self) -> MutexGuard<'_, Vec<Partition>> {
        self.partitions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn partition(&self, partition: u16, change: impl FnOnce(&mut Partition)) {
        if let Some(partition) = self.partitions().get_mut(usize::from(partition)) {
            change(partition);
        }
    }

    pub(crate) fn state(&self, partition: u16, state: PartitionState) {
        self.partition(partition, |one| {
            one.state = state;
            if state == PartitionState::Elsewhere {
                *one = Partition::default();
                let of = PartitionLabels { partition };
                self.up.remove(&of);
                self.lag.remove(&of);
                self.episodes.remove(&of);
                self.uncommitted.remove(&of);
                self.checkpoint_age.remove(&of);
                self.checkpoint_bytes.remove(&of);
            }
        });
    }

    pub(crate) fn judged(&self, partition: u16, count: u64) {
        self.packets.get_or_create(&PartitionLabels { partition }).inc_by(count);
    }

    /// Records the number of messages after the last commit and the time of the oldest uncommitted finding.
    pub(crate) fn lag(&self, partition: u16, lag: u64, uncommitted: Option<Instant>) {
        self.lag.get_or_create(&PartitionLabels { partition }).set(i64::try_from(lag).unwrap_or(i64::MAX));
        // Findings from before a failure are still waiting.
        self.partition(partition, |partition| partition.uncommitted = partition.uncommitted.or(uncommitted));
    }

    /// Counts a commit and its findings, and records the time of the oldest one that still waits.
    pub(crate) fn committed(
        &self,
        partition: u16,
        found: impl IntoIterator<Item = (Severity, Code)>,
        uncommitted: Option<Instant>,
    ) {
        self.commits.inc();
        self.partition(partition, |partition| (partition.fences, partition.uncommitted) = (0, uncommitted));
        for (severity, code) in found {
            self.findings.get_or_create(&FindingLabels { severity: severity.as_str(), code: code.as_str() }).inc();
        }
    }

    /// Records that the server has stored a checkpoint, and the number of open episodes.
    pub(crate) fn progressed(&self, partition: u16, episodes: usize) {
        self.episodes.get_or_create(&PartitionLabels { partition }).set(count(episodes));
        self.partition(partition, |partition| (partition.fences, partition.uncommitted) = (0, None));
    }

    pub(crate) fn checkpoint(&self, partition: u16, bytes: usize) {
        self.all_checkpoint_bytes.inc_by(bytes as u64);
        self.checkpoint_bytes.get_or_create(&PartitionLabels { partition }).set(count(bytes));
        self.partition(partition, |partition| partition.checkpoint = Some(Instant::now()));
    }

    /// Counts a refused commit. Returns the number of consecutive refusals for the partition.
    pub(crate) fn fenced(&self, partition: u16) -> u32 {
        self.fenced.inc();
        let mut fences = 0;
        self.partition(partition, |partition| {
            partition.fences += 1;
            fences = partition.fences;
        });
        fences
    }

    /// Counts messages that were deleted before they were judged.
    pub(crate) fn missed(&self, count: u64) {
        self.missed.inc_by(count);
    }

    pub(crate) fn draining(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn beat(&self, members: usize) {
        self.members.set(count(members));
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    pub(crate) fn alive(&self) {
        *self.alive.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Returns whether the main loop still makes progress. If it does not, the worker must be restarted.
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).elapsed() < STUCK
    }

    /// Returns the reason why the worker is not ready, if any.
    pub(crate) fn unready(&self) -> Option<&'static str> {
        if self.is_draining.load(Ordering::Relaxed) {
            return Some("draining");
        }
        if !self.link.is_up() {
            return Some("not connected");
        }
        let beat = *self.beat.lock().unwrap_or_else(PoisonError::into_inner);
        if beat.is_none_or(|beat| beat.elapsed() >= LEASE) {
            return Some("not among the workers");
        }
        let partitions = self.partitions();
        let any = |state| partitions.iter().any(|partition| partition.state == state);
        if any(PartitionState::Failed) {
            return Some("a partition has failed");
        }
        if partitions.iter().any(Partition::is_fenced) {
            return Some("the commits of a partition are refused");
        }
        any(PartitionState::Loading).then_some("a partition is loading")
    }

    /// Returns all metrics in the text format of OpenMetrics.
    pub(crate) fn text(&self) -> String {
        let seconds = |since: Option<Instant>| since.map_or(0.0, |since| since.elapsed().as_secs_f64());
        for (partition, at) in (0..).zip(&*self.partitions()).filter(|(_, at)| at.state != PartitionState::Elsewhere) {
            let of = PartitionLabels { partition };
            let is_up = at.state == PartitionState::Owned && !at.is_fenced();
            self.up.get_or_create(&of).set(i64::from(is_up));
            self.uncommitted.get_or_create(&of).set(seconds(at.uncommitted));
            if at.checkpoint.is_some() {
                self.checkpoint_age.get_or_create(&of).set(seconds(at.checkpoint));
            }
        }
        self.connected.set(i64::from(self.link.is_up()));
        self.disconnects.set(i64::try_from(self.link.lost_so_far()).unwrap_or(i64::MAX));
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut out, &self.registry);
        out
    }
}

/// Time without a round of the main loop after which the worker counts as stuck.
const STUCK: Duration = Duration::from_secs(60);

#[cfg(test)]
#[expect(clippy::expect_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_dashboard_shows_what_there_is() {
        let metrics = Metrics::new(2, Link::new());
        metrics.state(1, PartitionState::Owned);
        metrics.judged(1, 1);
        metrics.lag(1, 7, Instant::now().checked_sub(Duration::from_secs(9)));
        metrics.committed(1, [(Severity::Error, Code::E4)], None);
        metrics.progressed(1, 3);
        metrics.lag(1, 7, Instant::now().checked_sub(Duration::from_secs(9)));
        metrics.checkpoint(1, 100);
        let text = metrics.text();
        assert!(
            text.contains("omen_partition_lag{partition=\"1\"} 7\n") && !text.contains("partition=\"0\""),
            "{text}"
        );
        assert!(text.contains("omen_uncommitted_age_seconds{partition=\"1\"} 9."), "{text}");
        assert!(text.contains("omen_findings_total{severity=\"error\",code=\"E4\"} 1\n"), "{text}");
        let known: Vec<String> = text
            .lines()
            .filter_map(|line| {
                let (name, kind) = line.strip_prefix("# TYPE ")?.split_once(' ')?;
                Some(if kind == "counter" { format!("{name}_total") } else { name.to_owned() })
            })
            .collect();
        let dashboard: serde_json::Value =
            serde_json::from_str(include_str!("../../deploy/grafana.json")).expect("the dashboard is JSON");
        for name in dashboard.to_string().split(|it: char| !it.is_ascii_alphanumeric() && it != '_') {
            let is_counted = known.iter().any(|known| known == name);
            assert!(!name.starts_with("omen_") || is_counted, "{name} is shown, and nothing counts it");
        }
    }

    #[test]
    fn a_worker_is_ready_when_it_judges_what_it_has() {
        let link = Link::new();
        let metrics = Metrics::new(2, link.clone());
        assert_eq!(metrics.unready(), Some("not connected"));
        link.note(&async_nats::Event::Connected);
        assert_eq!(metrics.unready(), Some("not among the workers"));
        metrics.beat(1);
        metrics.state(0, PartitionState::Loading);
        assert_eq!(metrics.unready(), Some("a partition is loading"));
        metrics.state(0, PartitionState::Owned);
        assert_eq!((metrics.unready(), metrics.is_alive()), (None, true));
        assert_eq!([(); 2].map(|()| metrics.fenced(0)), [1, 2]);
        assert_eq!(metrics.unready(), None, "another worker may have the partition");
        assert_eq!((metrics.fenced(0), metrics.unready()), (FENCES, Some("the commits of a partition are refused")));
        assert!(metrics.text().contains("omen_partition_up{partition=\"0\"} 0\n"));
        metrics.committed(0, [], None);
        assert_eq!(metrics.unready(), None);
        metrics.state(1, PartitionState::Failed);
        assert_eq!(metrics.unready(), Some("a partition has failed"));
        metrics.draining();
        assert_eq!(metrics.unready(), Some("draining"));
    }
}
