//! A server on loopback, and the processes that work with it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{Info, Stream};
use omen_worker::connect::Server;
use omen_worker::names::Names;
use omen_worker::setup::Setup;
use tempfile::TempDir;

use super::super::Failure;

/// What is started.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The command, with `omen worker`.
    pub omen: PathBuf,
    /// The server.
    pub nats: PathBuf,
}

impl Programs {
    /// Builds the command with optimisations, and takes the server that `OMEN_NATS_SERVER` names.
    ///
    /// # Errors
    /// If there is none, or the command cannot be built.
    pub fn find(own: &Path) -> Result<Self, Failure> {
        let nats = std::env::var_os("OMEN_NATS_SERVER")
            .ok_or("OMEN_NATS_SERVER is not set; expected the path of nats-server")?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--release", "--package", "omen-cli", "--features", "nats", "--bin", "omen"])
            .status()?;
        let omen = own.with_file_name("omen").with_extension(std::env::consts::EXE_EXTENSION);
        if !built.success() || !omen.is_file() {
            return Err("the command `omen` cannot be built".into());
        }
        Ok(Self { omen, nats: nats.into() })
    }
}

/// A server with its files, and a connection to it.
#[derive(Debug)]
pub(super) struct Place {
    omen: PathBuf,
    url: String,
    server: Running,
    pub(super) context: Context,
    pub(super) setup: Setup,
    // Removed last.
    pub(super) folder: TempDir,
}

impl Place {
    pub(super) async fn start(programs: &Programs, partitions: u16) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        // Free now; nobody else takes it in the moment until the server does.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let server = Command::new(&programs.nats)
            .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"])
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
        let context = address.jetstream(address.connect("benchmark", |_| {}).await?);
        let setup = Setup { names: Names::of("PACKETS"), partitions, replicas: 1 };
        let place = Self { omen: programs.omen.clone(), url, server, context, setup, folder };
        place.make().await?;
        Ok(place)
    }

    async fn make(&self) -> Result<(), Failure> {
        self.setup.packets(&self.context).await?;
        self.setup.findings(&self.context).await?;
        Ok(())
    }

    /// Forgets what was judged, so that all packets are judged again.
    pub(super) async fn forget_verdicts(&self) -> Result<(), Failure> {
        for name in ["PACKETS_FINDINGS", "KV_PACKETS_STATE", "KV_PACKETS_WORKERS"] {
            // Not all of them need be there.
            let _ = self.context.delete_stream(name).await;
        }
        self.make().await
    }

    /// Forgets everything.
    pub(super) async fn forget(&self) -> Result<(), Failure> {
        let _ = self.context.delete_stream("PACKETS").await;
        self.forget_verdicts().await
    }

    pub(super) async fn stream(&self, name: &str) -> Result<Stream, Failure> {
        Ok(self.context.get_stream(name).await?)
    }

    /// The number of the last message of a stream; 0 if there is none.
    pub(super) async fn last(&self, name: &str) -> u64 {
        match self.context.get_stream(name).await {
            Ok(stream) => {
                let Info { state, .. } = stream.cached_info();
                state.last_sequence
            }
            Err(_) => 0,
        }
    }

    /// Runs `omen` to its end. Returns how long it took, and how much time of a processor in seconds.
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
        let mut child = Command::new(&self.omen)
            // A mark of time is a message, too, which nothing here needs.
            .args(["worker", "--nats", &self.url, "--name", name, "--listen", "127.0.0.1:0", "--tick", "1000h"])
            .args(["--partitions", &self.setup.partitions.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = child.stderr.take().ok_or("no standard error")?;
        let running = Running(child);
        let mut lines = BufReader::new(stderr).lines();
        let mut metrics = None;
        while metrics.is_none() {
            let Some(line) = lines.next().transpose()? else {
                return Err(format!("the worker `{name}` does not start").into());
            };
            let address = line.split_once("http://").and_then(|(_, rest)| rest.split('/').next());
            metrics = address.and_then(|address| address.parse().ok());
        }
        let metrics = metrics.ok_or("no address")?;
        // What it says later is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Worker { running, metrics, name: name.to_owned() })
    }

    /// Seconds of a processor that the server has taken.
    pub(super) fn server_seconds(&self) -> f64 {
        self.server.seconds()
    }
}

/// A worker.
#[derive(Debug)]
pub(super) struct Worker {
    running: Running,
    metrics: SocketAddr,
    pub(super) name: String,
}

impl Worker {
    /// Seconds of a processor that it has taken.
    pub(super) fn seconds(&self) -> f64 {
        self.running.seconds()
    }

    /// Its resident memory in bytes; none if the system does not report it.
    pub(super) fn resident(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.running.0.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
    }

    /// The sum of a metric over all partitions.
    pub(super) fn metric(&self, name: &str) -> Result<f64, Failure> {
        let text = self.get("/metrics")?;
        let values = text.lines().filter_map(|line| {
            let rest = line.strip_prefix(name)?;
            if rest.starts_with(['{', ' ']) { rest.rsplit(' ').next()?.parse::<f64>().ok() } else { None }
        });
        Ok(values.sum())
    }

    /// Waits until it judges all partitions that it has.
    pub(super) async fn ready(&self) -> Result<(), Failure> {
        let begin = Instant::now();
        while !self.get("/readyz")?.starts_with("HTTP/1.1 200") {
            if begin.elapsed() > PATIENCE {
                return Err(format!("the worker `{}` is not ready", self.name).into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    fn get(&self, path: &str) -> Result<String, Failure> {
        let mut connection = TcpStream::connect(self.metrics)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes())?;
        let mut response = String::new();
        connection.read_to_string(&mut response)?;
        Ok(response)
    }

    /// Asks it to end, and waits until it has.
    pub(super) fn stop(mut self) -> Result<(), Failure> {
        let pid = self.running.0.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status()?;
        match self.running.0.wait()?.success() {
            true => Ok(()),
            false => Err(format!("the worker `{}` failed", self.name).into()),
        }
    }
}

/// A process that ends with this value.
#[derive(Debug)]
struct Running(Child);

impl Running {
    /// Seconds of a processor that it has taken.
    fn seconds(&self) -> f64 {
        seconds(&self.0.id().to_string(), OWN)
    }
}

/// Seconds of a processor that a process has taken, or those of its children that have ended; 0 if the system does not report them.
fn seconds(process: &str, fields: usize) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the command, in parentheses, may have spaces.
    let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks: f64 = rest.split(' ').skip(fields).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS
}

/// Where the two times of a process are, in user code and in the system, and those of its children.
const OWN: usize = 11;
const OF_CHILDREN: usize = 13;

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Ticks in a second: Linux reports times of processes in hundredths everywhere.
const TICKS: f64 = 100.0;

/// Far more time than anything needs.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
