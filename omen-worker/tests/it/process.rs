//! Workers as child processes, which run this test program again.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use omen::ValidatorOptions;
use omen_worker::connect::Server;
use omen_worker::worker::{self, Options};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::NamedTempFile;

use crate::server::{Nats, setup};

/// A worker in a child process, which is killed when this value is dropped.
pub(crate) struct Worker {
    process: Child,
    /// Output of the worker, for a test that fails.
    said: NamedTempFile,
}

impl Worker {
    pub(crate) fn start(server: &Nats) -> Self {
        Self::at(&server.address().url)
    }

    /// Starts a worker with the address of its server.
    pub(crate) fn at(url: &str) -> Self {
        Self::with(url, &[])
    }

    /// Starts a worker with additional environment variables.
    pub(crate) fn with(url: &str, variables: &[(&str, String)]) -> Self {
        let said = NamedTempFile::new().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "process::the_process_of_a_worker", "--nocapture"])
            .env(ADDRESS, url)
            .envs(variables.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(said.reopen().unwrap());
        Self { process: command.spawn().unwrap(), said }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Closes the standard input, which asks the process to stop, and waits for its end.
    pub(crate) fn stop(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success(), "the worker ends well");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            crate::say(&format!("a worker said:\n{}", std::fs::read_to_string(self.said.path()).unwrap_or_default()));
        }
    }
}

pub(crate) fn options() -> Options {
    Options {
        setup: setup(),
        validator: ValidatorOptions::default(),
        episode_ttl: None,
        // Never: a time mark is a message, too, and would take the number of a line.
        tick: Duration::from_secs(u64::MAX),
        accepts_gaps: false,
        judges_again: false,
        listen: None,
        id: None,
    }
}

/// Entry point of a worker's process, not a test by itself.
#[test]
fn the_process_of_a_worker() {
    let Ok(url) = std::env::var(ADDRESS) else { return };
    crate::clock::is_as_it_should_be();
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = stop.send(());
    });
    let server = Server { url, ..Server::default() };
    let stop = async { drop(stopped.await) };
    runtime.block_on(async { worker::run(&server, options(), stop).await.unwrap() });
}

const ADDRESS: &str = "OMEN_TEST_WORKER_OF";
