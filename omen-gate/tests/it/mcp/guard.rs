//! Processes that remain of a server when its gate is killed.
//!
//! The killed gate is this test binary, restarted. Its guards, and their servers, are this binary as well.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use omen_gate::mcp::{Launch, ServerLimits, StdioServer, guard_servers_through};
use omen_gate::server::ToolServer as _;
use serde_json::json;

use super::processes::{pid, runs, session};
use super::{again, call, limits, start, until};

const GATE: &str = "OMEN_TEST_GATE";

/// A guard's own standard output has lines of the test harness, so its server has another one.
fn guards() -> Vec<std::ffi::OsString> {
    let exe = std::env::current_exe().unwrap();
    let shell = ["/bin/sh", "-c", r#"exec "$@" 3>&1 >/dev/null"#, "sh"].map(Into::into);
    let test = ["mcp::guard::a_gate", "--exact", "--nocapture", "--test-threads=1", "--"].map(Into::into);
    shell.into_iter().chain([exe.into()]).chain(test).collect()
}

/// Server started by a guard, in a role.
fn guarded(role: &str) -> Launch {
    Launch::new(std::env::current_exe().unwrap())
        .args(["mcp::hostile::it_behaves_if_it_wants_to", "--exact", "--nocapture", "--test-threads=1"])
        .env(again::ROLE, role)
        .limits(limits())
}

/// Suffix of a role whose server only starts processes that leave its process group.
const FLED: &str = "+fled";

/// The server, its guard, and all processes that it has started.
async fn family(server: &StdioServer, has_fled: bool) -> Vec<u64> {
    let mut family = Vec::new();
    for tool in ["pid", if has_fled { "flee" } else { "breed" }, "flee", "daemon"] {
        family.push(pid(server, tool).await);
    }
    let fled = if has_fled { &family[1..] } else { &family[2..] };
    until("they have sessions of their own", || fled.iter().all(|pid| session(*pid) == Some(*pid))).await;
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", family[0])).unwrap();
    family.push(stat.rsplit(") ").next().unwrap().split(' ').nth(1).unwrap().parse().unwrap());
    family
}

/// Role of the killed process. Run as a test, it has a server whose guard ends as it does.
#[test]
fn a_gate() {
    // In a guard this does not return.
    match std::env::var(GATE) {
        Ok(role) => {
            guard_servers_through(guards());
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(serve(&role));
            std::thread::sleep(Duration::from_secs(180));
            std::process::exit(1);
        }
        Err(_) if std::env::var_os("OMEN_GATE_GUARD").is_some() => guard_servers_through(guards()),
        Err(_) => {
            let mut gate = Gate::start("ends");
            assert_eq!(gate.line(), "exit status: 0");
            assert_eq!(gate.line(), "exit status: 101");
            assert_eq!(gate.line(), "the server cannot be reached: it could not be started: not found");
        }
    }
}

async fn serve(role: &str) {
    let tell = |line: &str| {
        // One write, so that a line is complete or missing.
        std::io::stdout().write_all(format!("gate: {line}\n").as_bytes()).unwrap();
    };
    let pids = |family: &[u64]| family.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    let (role, has_fled) = role.strip_suffix(FLED).map_or((role, false), |role| (role, true));
    match role {
        // Until it is killed, its server neither reads nor ends.
        "killed" => {
            let server = start(guarded("stubborn")).await;
            let family = family(&server, has_fled).await;
            call(&server, "deafen", json!({})).await.unwrap();
            tell(&pids(&family));
            std::future::pending::<()>().await;
        }
        "drops" => {
            let server = start(guarded("stubborn")).await;
            tell(&pids(&family(&server, has_fled).await));
            drop(server);
        }
        "stops" => {
            let server =
                start(guarded("good").limits(ServerLimits { stop: Duration::from_secs(60), ..limits() })).await;
            tell(&pids(&family(&server, has_fled).await));
            server.stop().await;
            tell(&server.exit().unwrap());
        }
        "kills" => {
            let server =
                start(guarded("stubborn").limits(ServerLimits { stop: Duration::from_millis(50), ..limits() })).await;
            tell(&pids(&family(&server, has_fled).await));
            server.stop().await;
            tell(&server.exit().unwrap());
        }
        "dies" => {
            let server = start(guarded("good")).await;
            tell(&pids(&family(&server, has_fled).await));
            call(&server, "die", json!({})).await.unwrap_err();
            until("its end is seen", || server.exit().is_some()).await;
            tell(&server.exit().unwrap());
        }
        "ends" => {
            let server = start(guarded("good")).await;
            server.stop().await;
            tell(&server.exit().unwrap());
            let server = start(guarded("good")).await;
            call(&server, "die", json!({})).await.unwrap_err();
            until("its end is seen", || server.exit().is_some()).await;
            tell(&server.exit().unwrap());
            let absent = StdioServer::start(Launch::new("/no/such/program")).await.unwrap_err().to_string();
            assert!(absent.contains("it could not be started: No such file"), "{absent}");
            tell("the server cannot be reached: it could not be started: not found");
        }
        "revives" => {
            let server = start(guarded("good")).await;
            tell(&pids(&family(&server, has_fled).await));
            until("its end is seen", || server.exit().is_some()).await;
            assert_eq!(server.list().await.unwrap().len(), 1);
            tell(&server.exit().is_none().to_string());
        }
        other => panic!("{other}"),
    }
}

/// Gate in a separate process, which ends with the test.
struct Gate {
    process: Child,
    out: BufReader<ChildStdout>,
}

impl Gate {
    fn start(role: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["mcp::guard::a_gate", "--exact", "--nocapture", "--test-threads=1"])
            .env(GATE, role)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        Self { process, out }
    }

    /// Reads its next line.
    fn line(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "the gate has ended");
            // The harness prints lines of its own, without line breaks.
            if let Some((_, line)) = line.split_once("gate: ") {
                return line.trim_end().to_owned();
            }
        }
    }

    /// Running processes that it has started.
    fn family(&mut self) -> Vec<u64> {
        let family: Vec<u64> = self.line().split(' ').map(|pid| pid.parse().unwrap()).collect();
        assert_eq!(family.len(), 5);
        family
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn nothing_of_a_server_outlives_a_gate_that_is_killed() {
    for (signal, fled) in [(15, ""), (9, ""), (15, FLED), (9, FLED)] {
        let mut gate = Gate::start(&format!("killed{fled}"));
        let family = gate.family();
        assert!(family.iter().all(|pid| runs(*pid)), "{family:?}");
        let kill = Command::new("kill").args([format!("-{signal}"), gate.process.id().to_string()]).status();
        assert!(kill.unwrap().success());
        assert_eq!(gate.process.wait().unwrap().signal(), Some(signal));
        until("all have ended", || !family.iter().any(|pid| runs(*pid))).await;
    }
}

#[tokio::test]
async fn nothing_of_a_server_is_left_when_it_is_dropped_or_stopped() {
    for (role, end) in [
        ("drops", None),
        ("stops", Some("exit status: 0")),
        ("kills", Some("signal: 9 (SIGKILL)")),
        ("dies", Some("exit status: 101")),
    ] {
        for fled in ["", FLED] {
            let mut gate = Gate::start(&format!("{role}{fled}"));
            let family = gate.family();
            if let Some(end) = end {
                assert_eq!(gate.line(), end, "{role}{fled}");
            }
            until("all have ended", || !family.iter().any(|pid| runs(*pid))).await;
            assert!(gate.process.try_wait().unwrap().is_none(), "{role}{fled}: the gate goes on");
        }
    }
}

#[tokio::test]
async fn a_guard_that_is_killed_takes_the_server_with_it_and_the_next_list_has_another_one() {
    let mut gate = Gate::start("revives");
    let family = gate.family();
    let (server, guard) = (family[0], family[4]);
    assert!(Command::new("kill").args(["-9", &guard.to_string()]).status().unwrap().success());
    until("the server has ended", || !runs(server) && !runs(guard)).await;
    assert_eq!(gate.line(), "true");
    // Nothing reaps the processes that have left its group (see `docs/gate.md`).
    for pid in [family[2], family[3]] {
        assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    }
}
