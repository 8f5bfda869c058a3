//! A separate server for each test, on loopback, with its files in a temporary folder.

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use omen_testkit::Need;
use omen_worker::connect::Server;
use omen_worker::names::Names;
use omen_worker::setup::Setup;
use rustix::process::Pid;
use tempfile::TempDir;

/// Number of partitions in the tests.
pub(crate) const PARTITIONS: u16 = 4;

pub(crate) struct Nats {
    binary: PathBuf,
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
    child: Child,
}

impl Nats {
    /// Starts a server; `None` where none is installed, which fails the test in CI.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(|_| String::new())
    }

    /// Starts a server with additional configuration, which may refer to files in its folder.
    pub(crate) fn start_with(more: impl FnOnce(&Path) -> String) -> Option<Self> {
        let binary = Need::Nats.path()?;
        let folder = folder();
        let more = more(folder.path());
        Some(Self::listening(binary, folder, &more, any_port))
    }

    /// Starts a server on the first of these ports that is free.
    pub(crate) fn listening(binary: PathBuf, folder: TempDir, more: &str, mut ports: impl FnMut() -> u16) -> Self {
        for _ in 0..ATTEMPTS {
            let port = ports();
            let configuration = format!(
                "listen: \"127.0.0.1:{port}\"\nports_file_dir: \"{folder}\"\nmax_payload: 32MB\nmax_pending: 128MB\n\
                 jetstream {{ store_dir: \"{folder}/store\" }}\n{more}\n",
                folder = folder.path().display(),
            );
            std::fs::write(folder.path().join("server.conf"), configuration).unwrap();
            if let Some(child) = run(&binary, folder.path()) {
                return Self { binary, folder, port, child };
            }
        }
        let log = std::fs::read_to_string(folder.path().join("server.log")).unwrap_or_default();
        panic!("the server does not start: {log}");
    }

    /// Returns the process id, for signals.
    pub(crate) fn process(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Kills the server, and restarts it with the same files.
    pub(crate) fn kill_and_start(&mut self) {
        self.kill();
        self.start_again();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn start_again(&mut self) {
        // The port is free again, possibly after a moment.
        let child = (0..ATTEMPTS).find_map(|_| {
            run(&self.binary, self.folder.path()).or_else(|| {
                std::thread::sleep(Duration::from_millis(100));
                None
            })
        });
        self.child = child.expect("the server starts again");
    }

    pub(crate) fn address(&self) -> Server {
        Server { url: format!("nats://127.0.0.1:{}", self.port), ..Server::default() }
    }

    pub(crate) async fn context(&self) -> Context {
        let server = self.address();
        server.jetstream(server.connect("test").await.unwrap())
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a temporary folder, in memory where possible: only processes are killed, and the disk of a busy machine can take
/// seconds.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Returns a random port outside the ephemeral range, so that no other process gets it while the server is down, not even a
/// client that tries to connect to it.
pub(crate) fn any_port() -> u16 {
    let random = RandomState::new().hash_one(());
    PORTS.start + (random % PORTS.len() as u64) as u16
}

/// Runs a server until it listens; `None` if it has exited because another process uses its port.
fn run(binary: &Path, folder: &Path) -> Option<Child> {
    let log = File::create(folder.join("server.log")).unwrap();
    let mut child = Command::new(binary)
        .arg("-c")
        .arg(folder.join("server.conf"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the server starts");
    // The server writes this file when it listens. Before that, another process may respond at its port.
    let name = binary.file_name().unwrap().display();
    let listening = folder.join(format!("{name}_{}.ports", child.id()));
    let begin = Instant::now();
    while !listening.exists() {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "the server does not listen");
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(child)
}

/// Returns the set-up of the streams. A variable of the environment sets the number of replicas in a worker's process.
pub(crate) fn setup() -> Setup {
    let replicas = std::env::var(REPLICAS).map_or(1, |replicas| replicas.parse().expect(REPLICAS));
    Setup { names: Names::with_prefix("PACKETS"), partitions: Some(PARTITIONS), replicas }
}

/// Variable with the number of replicas of each stream in a worker's process.
pub(crate) const REPLICAS: &str = "OMEN_TEST_REPLICAS";

/// Ports below the ephemeral ranges of Linux and macOS, and above those of well-known services.
const PORTS: Range<u16> = 20_000..32_000;

/// Number of attempts to start a server whose port is in use.
const ATTEMPTS: usize = 20;

#[test]
fn a_port_that_is_in_use_is_not_taken() {
    let Some(binary) = Need::Nats.path() else { return };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut ports = [taken.local_addr().unwrap().port(), any_port(), any_port(), any_port()].into_iter();
    let mut server = Nats::listening(binary, folder(), "", || ports.next().unwrap());
    assert_ne!(server.port, taken.local_addr().unwrap().port());
    // The restarted server keeps the port.
    server.kill_and_start();
    assert!(std::net::TcpStream::connect(("127.0.0.1", server.port)).is_ok());
}
