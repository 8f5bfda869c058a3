//! A server on the loopback device, and the processes that use it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{Context, kv};
use omen_worker::connect::Server;
use omen_worker::names::Names;
use omen_worker::setup::Setup;
use tempfile::TempDir;

use super::super::programs::built;
use crate::Failure;

/// Programs to start.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The `omen` command, with `omen worker`.
    pub omen: PathBuf,
    /// The NATS server.
    pub nats: PathBuf,
}

impl Programs {
    /// Builds the command with optimizations, and finds the server at `OMEN_NATS_SERVER`.
    ///
    /// # Errors
    /// If the server is not set, or the command cannot be built.
    pub fn find(own: &Path) -> Result<Self, Failure> {
        let nats = std::env::var_os("OMEN_NATS_SERVER")
            .ok_or("OMEN_NATS_SERVER is not set; expected the path of nats-server")?;
        Ok(Self { omen: built(own, &["--features", "nats"])?, nats: nats.into() })
    }
}

/// A server with its files, and a connection to it.
#[derive(Debug)]
pub(super) struct Place {
    omen: PathBuf,
    url: String,
    server: Running,
    /// Address at which the server reports its state.
    monitor: SocketAddr,
    pub(super) context: Context,
    setup: Setup,
    pub(super) partitions: u16,
    // Removed last.
    pub(super) folder: TempDir,
}

impl Place {
    pub(super) async fn start(programs: &Programs, partitions: u16) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        // Free now, and no other process takes them before the server does.
        let free = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
        let [port, monitor] = [free[0].local_addr()?.port(), free[1].local_addr()?.port()];
        drop(free);
        let server = Command::new(&programs.nats)
            .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-m", &monitor.to_string(), "-sd"])
            .arg(folder.path().join("store"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let server = Running(server);
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begin.elapsed() > PATIENCE {
                return Err("the server does not listen".into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let url = format!("nats://127.0.0.1:{port}");
        let address = Server { url: url.clone(), ..Server::default() };
        let context = address.jetstream(address.connect("benchmark").await?);
        let setup = Setup { names: Names::with_prefix("PACKETS"), partitions: Some(partitions), replicas: 1 };
        let monitor = SocketAddr::from(([127, 0, 0, 1], monitor));
        let place = Self { omen: programs.omen.clone(), url, server, monitor, context, setup, partitions, folder };
        place.make().await?;
        Ok(place)
    }

    async fn make(&self) -> Result<(), Failure> {
        self.setup.packets(&self.context).await?;
        self.setup.findings(&self.context).await?;
        let bucket = "PACKETS_WORKERS".to_owned();
        self.context.create_key_value(kv::Config { bucket, max_age: LEASE, ..kv::Config::default() }).await?;
        Ok(())
    }

    /// Deletes all findings and positions, so that all packets are judged again.
    pub(super) async fn forget_verdicts(&self) -> Result<(), Failure> {
        for name in ["PACKETS_FINDINGS", "KV_PACKETS_STATE", "KV_PACKETS_WORKERS"] {
            // Some of them may not exist.
            let _ = self.context.delete_stream(name).await;
        }
        self.make().await
    }

    /// Deletes everything.
    pub(super) async fn forget(&self) -> Result<(), Failure> {
        for partition in 0..self.partitions {
            let _ = self.context.delete_stream(self.setup.names.packets(partition)).await;
        }
        self.forget_verdicts().await
    }

    /// Returns the number of messages in the streams of packets, and their bytes.
    pub(super) async fn stored(&self) -> Result<(u64, u64), Failure> {
        let (mut messages, mut bytes) = (0, 0);
        for partition in 0..self.partitions {
            let stream = self.stream(&self.setup.names.packets(partition)).await?;
            messages += stream.cached_info().state.messages;
            bytes += stream.cached_info().state.bytes;
        }
        Ok((messages, bytes))
    }

    pub(super) async fn stream(&self, name: &str) -> Result<Stream, Failure> {
        Ok(self.context.get_stream(name).await?)
    }

    /// Returns the number of the last message of a stream; 0 if there is none.
    pub(super) async fn last(&self, name: &str) -> u64 {
        match self.context.get_stream(name).await {
            Ok(stream) => stream.cached_info().state.last_sequence,
            Err(_) => 0,
        }
    }

    /// Runs `omen` to its end. Returns the duration, and the processor time in seconds.
    pub(super) fn omen(&self, args: &[&str], needs_server: bool) -> Result<(Duration, f64), Failure> {
        let mut command = Command::new(&self.omen);
        command.args(args);
        if needs_server {
            command.args(["--nats", &self.url]);
        }
        let (begin, before) = (Instant::now(), seconds("self", OF_CHILDREN));
        let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
        let took = begin.elapsed();
        if !output.status.success() {
            return Err(format!("`omen {}` failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok((took, seconds("self", OF_CHILDREN) - before))
    }

    /// Starts a worker.
    pub(super) fn worker(&self, name: &str) -> Result<Worker, Failure> {
        self.start_worker(name)?.started()
    }

    /// Starts workers at the same time. Each has its share from the start, because the others are announced before it begins.
    pub(super) async fn workers(&self, names: &[String]) -> Result<Vec<Worker>, Failure> {
        let members = self.context.get_key_value("PACKETS_WORKERS").await?;
        for name in names {
            members.put(name.as_str(), "1".into()).await?;
        }
        let starting = names.iter().map(|name| self.start_worker(name)).collect::<Result<Vec<_>, _>>()?;
        starting.into_iter().map(Starting::started).collect()
    }

    fn start_worker(&self, name: &str) -> Result<Starting, Failure> {
        let child = Command::new(&self.omen)
            .args(["worker", "--nats", &self.url, "--name", name, "--listen", "127.0.0.1:0"])
            .args(["--partitions", &self.partitions.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Starting { running: Running(child), name: name.to_owned() })
    }

    /// Returns the processor time of the server in seconds.
    pub(super) fn server_seconds(&self) -> f64 {
        self.server.seconds()
    }

    /// Returns the size in bytes of the messages that the server has sent to its clients.
    pub(super) async fn sent_bytes(&self) -> Result<f64, Failure> {
        let answer = get(self.monitor, "/varz").await?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let values: serde_json::Value = serde_json::from_str(body)?;
        let sent = values.get("out_bytes").and_then(serde_json::Value::as_f64);
        Ok(sent.ok_or("the server does not say how many bytes it has sent")?)
    }
}

/// Worker that has not reported its metrics address yet.
struct Starting {
    running: Running,
    name: String,
}

impl Starting {
    fn started(mut self) -> Result<Worker, Failure> {
        let stderr = self.running.0.stderr.take().ok_or("no standard error")?;
        let mut lines = BufReader::new(stderr).lines();
        let mut metrics = None;
        while metrics.is_none() {
            let Some(line) = lines.next().transpose()? else {
                return Err(format!("the worker `{}` does not start", self.name).into());
            };
            let address = line.split_once("http://").and_then(|(_, rest)| rest.split('/').next());
            metrics = address.and_then(|address| address.parse().ok());
        }
        let metrics = metrics.ok_or("no address")?;
        // Its further output is read, so that it never blocks on writing.
        std::thread::spawn(move || lines.for_each(drop));
        let before = self.running.seconds();
        Ok(Worker { running: self.running, metrics, before, name: self.name })
    }
}

/// Running worker.
#[derive(Debug)]
pub(super) struct Worker {
    running: Running,
    metrics: SocketAddr,
    /// Processor time that its start took, in seconds.
    before: f64,
    pub(super) name: String,
}

impl Worker {
    /// Returns its processor time since its start, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.running.seconds() - self.before
    }

    /// Returns its resident memory in bytes; `None` if the system does not report it.
    pub(super) fn resident(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.running.0.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
    }

    /// Returns its metrics.
    pub(super) async fn metrics(&self) -> Result<Metrics, Failure> {
        Ok(Metrics(get(self.metrics, "/metrics").await?))
    }

    /// Returns the partitions that it judges.
    pub(super) async fn up(&self) -> Result<BTreeSet<u16>, Failure> {
        let up = self.metrics().await?.by_partition("omen_partition_up");
        Ok(up.into_iter().filter(|(_, is_up)| *is_up > 0.0).map(|(partition, _)| partition).collect())
    }

    /// Stops the worker, and waits until it has ended.
    pub(super) fn stop(mut self) -> Result<(), Failure> {
        let pid = self.running.0.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status()?;
        match self.running.0.wait()?.success() {
            true => Ok(()),
            false => Err(format!("the worker `{}` failed", self.name).into()),
        }
    }
}

/// Metrics of a worker, in the text format of Prometheus.
pub(super) struct Metrics(String);

impl Metrics {
    /// Returns the values of a metric by partition.
    pub(super) fn by_partition(&self, name: &str) -> BTreeMap<u16, f64> {
        let value = |line: &str| {
            let (partition, value) = line.strip_prefix(name)?.strip_prefix("{partition=\"")?.split_once("\"} ")?;
            Some((partition.parse().ok()?, value.parse().ok()?))
        };
        self.0.lines().filter_map(value).collect()
    }

    /// Returns the sum of a metric over all partitions, or its value if it has no partitions.
    pub(super) fn sum(&self, name: &str) -> f64 {
        let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<f64>().ok();
        self.by_partition(name).values().sum::<f64>() + self.0.lines().filter_map(value).sum::<f64>()
    }
}

/// Returns the response to a request, with its headers.
async fn get(address: SocketAddr, path: &str) -> Result<String, Failure> {
    let request = format!("GET {path} HTTP/1.0\r\nhost: localhost\r\n\r\n");
    let answered = tokio::task::spawn_blocking(move || {
        let mut connection = TcpStream::connect(address)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.write_all(request.as_bytes())?;
        let mut response = String::new();
        connection.read_to_string(&mut response)?;
        Ok::<_, std::io::Error>(response)
    });
    Ok(answered.await??)
}

/// Process that is killed when this value is dropped.
#[derive(Debug)]
struct Running(Child);

impl Running {
    /// Returns its processor time in seconds.
    fn seconds(&self) -> f64 {
        seconds(&self.0.id().to_string(), OWN)
    }
}

/// Returns the processor time of a process in seconds, or of its ended children; 0 if the system does not report it.
fn seconds(process: &str, fields: usize) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the command, in parentheses, may contain spaces.
    let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks: f64 = rest.split(' ').skip(fields).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS
}

/// Positions of the two times of a process, in user code and in the system, and of those of its children.
const OWN: usize = 11;
const OF_CHILDREN: usize = 13;

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Time after which a silent worker no longer counts as live.
const LEASE: Duration = Duration::from_secs(5);

/// Ticks per second: Linux always reports process times in hundredths.
const TICKS: f64 = 100.0;

/// Time limit, far longer than anything needs.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
