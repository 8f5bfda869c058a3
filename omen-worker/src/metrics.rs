//! What a worker counts, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::intake::Progress;
use crate::link::Link;

/// Whether this worker has a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// No.
    #[default]
    Elsewhere,
    /// It reads what it must remember.
    Loading,
    /// It judges.
    Owned,
    /// It tries again soon.
    Failed,
}

#[derive(Debug, Default)]
struct Partition {
    state: State,
    packets: u64,
    progress: Option<Arc<Progress>>,
    episodes: usize,
    /// Since when something is judged and not committed.
    uncommitted: Option<Instant>,
    /// How often a commit was refused since the last one that was not.
    fences: u32,
    checkpoint: Option<(Instant, usize)>,
}

impl Partition {
    /// Whether it gets nowhere: a worker that lost the partition to another one learns that from a refusal or two.
    fn is_fenced(&self) -> bool {
        self.state != State::Elsewhere && self.fences >= FENCES
    }
}

/// After so many commits in a row that were refused, a partition has failed.
pub(crate) const FENCES: u32 = 3;

/// What a worker counts.
#[derive(Debug)]
pub(crate) struct Metrics {
    partitions: Mutex<Vec<Partition>>,
    /// By subject.
    findings: Mutex<BTreeMap<String, u64>>,
    commits: AtomicU64,
    fenced: AtomicU64,
    missed: AtomicU64,
    checkpoint_bytes: AtomicU64,
    members: AtomicU64,
    link: Link,
    is_draining: AtomicBool,
    beat: Mutex<Option<Instant>>,
    /// When the loop of the worker last went round.
    alive: Mutex<Instant>,
}

impl Metrics {
    pub(crate) fn new(partitions: u16, link: Link) -> Self {
        Self {
            partitions: Mutex::new((0..partitions).map(|_| Partition::default()).collect()),
            findings: Mutex::default(),
            commits: AtomicU64::default(),
            fenced: AtomicU64::default(),
            missed: AtomicU64::default(),
            checkpoint_bytes: AtomicU64::default(),
            members: AtomicU64::default(),
            link,
            is_draining: AtomicBool::default(),
            beat: Mutex::default(),
            alive: Mutex::new(Instant::now()),
        }
    }

    fn partition(&self, partition: u16, change: impl FnOnce(&mut Partition)) {
        let mut partitions = self.partitions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(partition) = partitions.get_mut(usize::from(partition)) {
            change(partition);
        }
    }

    pub(crate) fn state(&self, partition: u16, state: State) {
        self.partition(partition, |partition| {
            partition.state = state;
            if state == State::Elsewhere {
                (partition.fences, partition.uncommitted) = (0, None);
            }
        });
    }

    pub(crate) fn judged(&self, partition: u16, count: u64) {
        self.partition(partition, |partition| partition.packets += count);
    }

    pub(crate) fn reads(&self, partition: u16, progress: Arc<Progress>) {
        self.partition(partition, |partition| partition.progress = Some(progress));
    }

    pub(crate) fn committed(&self, partition: u16, episodes: usize) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.partition(partition, |partition| (partition.episodes, partition.fences) = (episodes, 0));
    }

    pub(crate) fn checkpoint(&self, partition: u16, bytes: usize) {
        self.checkpoint_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.partition(partition, |partition| partition.checkpoint = Some((Instant::now(), bytes)));
    }

    pub(crate) fn found(&self, subject: &str) {
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        match findings.get_mut(subject) {
            Some(count) => *count += 1,
            None => drop(findings.insert(subject.to_owned(), 1)),
        }
    }

    pub(crate) fn uncommitted(&self, partition: u16, since: Option<Instant>) {
        self.partition(partition, |partition| partition.uncommitted = since);
    }

    /// Counts a commit that was refused. Returns how many that were in a row, for a partition.
    pub(crate) fn fenced(&self, partition: u16) -> u32 {
        self.fenced.fetch_add(1, Ordering::Relaxed);
        let mut fences = 0;
        self.partition(partition, |partition| {
            partition.fences += 1;
            fences = partition.fences;
        });
        fences
    }

    /// Counts messages that were deleted before they were judged.
    pub(crate) fn missed(&self, count: u64) {
        self.missed.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn draining(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn beat(&self, members: usize) {
        self.members.store(members as u64, Ordering::Relaxed);
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    pub(crate) fn alive(&self) {
        *self.alive.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether the worker goes round its loop: if not, it must be started again.
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).elapsed() < STUCK
    }

    /// Why the worker does not judge all that it has, if so.
    pub(crate) fn unready(&self) -> Option<&'static str> {
        if self.is_draining.load(Ordering::Relaxed) {
            return Some("draining");
        }
        if !self.link.is_up() {
            return Some("not connected");
        }
        let beat = *self.beat.lock().unwrap_or_else(PoisonError::into_inner);
        if beat.is_none_or(|beat| beat.elapsed() >= crate::members::LEASE) {
            return Some("not among the workers");
        }
        let partitions = self.partitions.lock().unwrap_or_else(PoisonError::into_inner);
        let any = |state| partitions.iter().any(|partition| partition.state == state);
        if any(State::Failed) {
            return Some("a partition has failed");
        }
        if partitions.iter().any(Partition::is_fenced) {
            return Some("the commits of a partition are refused");
        }
        any(State::Loading).then_some("a partition is loading")
    }

    /// Everything, in the text format of Prometheus.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let partitions = self.partitions.lock().unwrap_or_else(PoisonError::into_inner);
        let ours: Vec<_> = (0_u16..).zip(&*partitions).filter(|(_, at)| at.state != State::Elsewhere).collect();
        let mut each = |name: &str, kind: &str, help: &str, value: &dyn Fn(&Partition) -> Option<f64>| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (number, partition) in &ours {
                if let Some(value) = value(partition) {
                    let _ = writeln!(out, "{name}{{partition=\"{number}\"}} {value}");
                }
            }
        };
        let up = |at: &Partition| Some(f64::from(u8::from(at.state == State::Owned && !at.is_fenced())));
        each("omen_partition_up", "gauge", "Whether the worker judges a partition that it has.", &up);
        let lag = |at: &Partition| at.progress.as_ref().map(|progress| progress.lag() as f64);
        each("omen_partition_lag", "gauge", "Messages of the stream behind what the partition has committed.", &lag);
        each("omen_packets_total", "counter", "Messages that were judged.", &|at| Some(at.packets as f64));
        each("omen_episodes_open", "gauge", "Episodes that have not ended.", &|at| Some(at.episodes as f64));
        let age = |at: &Partition| Some(at.uncommitted.map_or(0.0, |since| since.elapsed().as_secs_f64()));
        each(
            "omen_uncommitted_age_seconds",
            "gauge",
            "Time since the oldest message that is not committed was judged.",
            &age,
        );
        let age = |at: &Partition| at.checkpoint.map(|(at, _)| at.elapsed().as_secs_f64());
        each("omen_checkpoint_age_seconds", "gauge", "Time since the last checkpoint.", &age);
        let bytes = |at: &Partition| at.checkpoint.map(|(_, bytes)| bytes as f64);
        each("omen_checkpoint_bytes", "gauge", "Bytes of the last checkpoint.", &bytes);
        let findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(out, "# HELP omen_findings_total Findings.\n# TYPE omen_findings_total counter");
        for (subject, count) in &*findings {
            let mut parts = subject.rsplit('.');
            let (code, severity) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let _ = writeln!(out, "omen_findings_total{{severity=\"{severity}\",code=\"{code}\"}} {count}");
        }
        let mut one = |name: &str, kind: &str, help: &str, value: u64| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        };
        one("omen_commits_total", "counter", "Commits that the server took.", load(&self.commits));
        one(
            "omen_missed_messages_total",
            "counter",
            "Messages that were deleted before they were judged, with --accept-gaps; each reader counts them.",
            load(&self.missed),
        );
        one(
            "omen_fenced_total",
            "counter",
            "Commits that it refused: another worker has the partition.",
            load(&self.fenced),
        );
        one("omen_checkpoint_bytes_total", "counter", "Bytes of all checkpoints.", load(&self.checkpoint_bytes));
        one("omen_workers", "gauge", "Workers that are alive.", load(&self.members));
        let is_up = u64::from(self.link.is_up());
        one("omen_connected", "gauge", "Whether there is a connection to the server.", is_up);
        one("omen_disconnects_total", "counter", "Connections that were lost.", self.link.lost_so_far());
        out
    }
}

/// A worker that has not gone round its loop for this time is stuck.
const STUCK: Duration = Duration::from_secs(60);

#[cfg(test)]
#[expect(clippy::expect_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_dashboard_shows_what_there_is() {
        let metrics = Metrics::new(2, Link::new());
        metrics.state(1, State::Owned);
        metrics.judged(1, 1);
        let (queue, intake) = crate::intake::queue(0);
        queue.passed(1, 0, 7);
        metrics.reads(1, intake.progress());
        metrics.committed(1, 3);
        metrics.uncommitted(1, Instant::now().checked_sub(Duration::from_secs(9)));
        metrics.checkpoint(1, 100);
        metrics.found("omen.findings.error.E4");
        let text = metrics.text();
        assert!(
            text.contains("omen_partition_lag{partition=\"1\"} 7\n") && !text.contains("partition=\"0\""),
            "{text}"
        );
        assert!(text.contains("omen_uncommitted_age_seconds{partition=\"1\"} 9."), "{text}");
        assert!(text.contains("omen_findings_total{severity=\"error\",code=\"E4\"} 1\n"), "{text}");
        let known: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
        assert_eq!(known.len(), text.lines().filter(|line| line.starts_with("# HELP ")).count());
        let dashboard: serde_json::Value =
            serde_json::from_str(include_str!("../../deploy/grafana.json")).expect("the dashboard is JSON");
        for name in dashboard.to_string().split(|it: char| !it.is_ascii_alphanumeric() && it != '_') {
            assert!(!name.starts_with("omen_") || known.contains(&name), "{name} is shown, and nothing counts it");
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
        metrics.state(0, State::Loading);
        assert_eq!(metrics.unready(), Some("a partition is loading"));
        metrics.state(0, State::Owned);
        assert_eq!((metrics.unready(), metrics.is_alive()), (None, true));
        assert_eq!([(); 2].map(|()| metrics.fenced(0)), [1, 2]);
        assert_eq!(metrics.unready(), None, "another worker may have the partition");
        assert_eq!((metrics.fenced(0), metrics.unready()), (FENCES, Some("the commits of a partition are refused")));
        assert!(metrics.text().contains("omen_partition_up{partition=\"0\"} 0\n"));
        metrics.committed(0, 1);
        assert_eq!(metrics.unready(), None);
        metrics.state(1, State::Failed);
        assert_eq!(metrics.unready(), Some("a partition has failed"));
        metrics.draining();
        assert_eq!(metrics.unready(), Some("draining"));
    }
}
