//! `omen worker`, `omen publish` and `omen tail`, with a real server, which `.ci/install nats` installs.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::*;

/// A server on loopback, with its files in a temporary folder.
struct Server {
    child: Child,
    url: String,
    folder: TempDir,
}

impl Server {
    fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    fn start_with(args: &[&str]) -> Option<Self> {
        let binary = Need::Nats.path()?;
        let folder = folder(&[]);
        let port_file = folder.path().join("ports");
        std::fs::create_dir(&port_file).unwrap();
        let mut child = std::process::Command::new(binary)
            // The server chooses a free port.
            .args(["-js", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir"])
            .arg(&port_file)
            .arg("-sd")
            .arg(folder.path().join("store"))
            .args(args)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        let url = loop {
            if let Some(url) = address(&port_file) {
                break url;
            }
            assert_eq!(child.try_wait().unwrap(), None, "the server ended");
            assert!(begin.elapsed() < AT_ONCE, "the server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        };
        Some(Self { child, url, folder })
    }

    fn omen<'a>(&'a self, args: &[&'a str]) -> Command {
        let mut command = omen(args.iter().copied());
        command.args(["--nats", &self.url]).current_dir(&self.folder);
        command
    }
}

/// Returns the address that a server has written into a folder, once it is complete.
fn address(folder: &Path) -> Option<String> {
    let file = std::fs::read_dir(folder).unwrap().next()?.unwrap().path();
    let ports: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).ok()?;
    Some(ports["nats"][0].as_str()?.to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_planted_mistake_is_found() {
    let Some(server) = Server::start() else { return };
    let text = log("invalid/e1-decision-before-belief.jsonl");
    // The stream of the episode's partition, in which the packets have the numbers of their lines.
    let name = format!("PACKETS_{}", omen_worker::names::partition_of("corr_support_invoice_4471", 4));
    write(server.folder.path(), &name, text.as_bytes());
    let lines = text.lines().count();

    let publish = run(&mut server.omen(&["publish", &name, "--end"]));
    assert_eq!((publish.code, publish.stdout.as_str()), (0, ""), "{}", publish.stderr);
    assert!(
        publish.stderr.contains(&format!("published {lines} packets of {name}; ended 1 episodes")),
        "{}",
        publish.stderr
    );
    let wrong = run(&mut server.omen(&["publish", &name, "--partitions", "5"]));
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);

    let mut worker = std::process::Command::new(env!("CARGO_BIN_EXE_omen"))
        .args(["worker", "--nats", &server.url])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let expected = run(omen(["check", &name, "--format", "json"]).current_dir(&server.folder));
    let expected: Vec<&str> = expected.stdout.lines().filter(|line| !line.contains("\"summary\"")).collect();
    assert_eq!(expected.len(), 1);
    let begin = Instant::now();
    let found = loop {
        let found = run(&mut server.omen(&["tail", "--no-follow", "--format", "json"]));
        if found.code == 1 {
            break found;
        }
        assert!(begin.elapsed() < AT_ONCE, "{}", found.stderr);
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(found.stdout.lines().collect::<Vec<_>>(), expected);

    // With the packet from the stream, the excerpt is that of the file.
    let people = run(&mut server.omen(&["tail", "--no-follow"]));
    let checked = run(omen(["check", &name]).current_dir(&server.folder));
    let (excerpt, _) = checked.stdout.split_once("\n1 file").unwrap();
    assert_eq!(people.stdout.trim_end(), excerpt.trim_end());

    // With a position on the server, each finding is printed once.
    let kept = || run(&mut server.omen(&["tail", "--no-follow", "--format", "json", "--consumer", "pager"]));
    let (first, again) = (kept(), kept());
    assert_eq!((first.code, first.stdout.lines().collect::<Vec<_>>()), (1, expected.clone()));
    assert_eq!((again.code, again.stdout.as_str()), (0, ""), "{}", again.stderr);
    let unusable = run(&mut server.omen(&["tail", "--no-follow", "--consumer", "a.b"]));
    assert!(unusable.code == 2 && unusable.stderr.contains("invalid name of a consumer `a.b`"), "{}", unusable.stderr);

    // Another message on the subject of findings does not hide later ones.
    let mut junk = TcpStream::connect(server.url.trim_start_matches("nats://")).unwrap();
    junk.write_all(b"CONNECT {\"verbose\":true}\r\nPUB omen.findings.junk 4\r\njunk\r\nPING\r\n").unwrap();
    let begin = Instant::now();
    let found = loop {
        let found = run(&mut server.omen(&["tail", "--no-follow", "--format", "json"]));
        if !found.stderr.is_empty() {
            break found;
        }
        assert!(begin.elapsed() < AT_ONCE, "it is not stored");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!((found.code, found.stdout.lines().collect::<Vec<_>>()), (1, expected));
    assert!(found.stderr.contains("skipped a message that cannot be read as a finding"), "{}", found.stderr);

    kill_process(Pid::from_child(&worker), Signal::TERM).unwrap();
    assert_eq!(worker.wait().unwrap().code(), Some(0));
}

#[test]
fn a_stream_without_a_finding_that_can_be_read_is_not_clean() {
    let Some(server) = Server::start() else { return };
    write(server.folder.path(), "log", log("valid/read-only.jsonl").as_bytes());
    assert_eq!(run(&mut server.omen(&["publish", "log"])).code, 0);
    let mut worker = std::process::Command::new(env!("CARGO_BIN_EXE_omen"))
        .args(["worker", "--nats", &server.url])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let tail = || run(&mut server.omen(&["tail", "--no-follow"]));
    while tail().code != 0 {
        assert!(begin.elapsed() < AT_ONCE, "there is no stream of findings");
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut junk = TcpStream::connect(server.url.trim_start_matches("nats://")).unwrap();
    junk.write_all(b"CONNECT {\"verbose\":true}\r\nPUB omen.findings.junk 4\r\njunk\r\nPING\r\n").unwrap();
    while tail().code != 3 {
        assert!(begin.elapsed() < AT_ONCE, "what cannot be read may be an error");
        std::thread::sleep(Duration::from_millis(100));
    }
    kill_process(Pid::from_child(&worker), Signal::TERM).unwrap();
    assert_eq!(worker.wait().unwrap().code(), Some(0));
}

#[test]
fn a_compressed_log_is_published_as_its_content() {
    let Some(server) = Server::start() else { return };
    let text = log("invalid/e1-decision-before-belief.jsonl");
    let lines = text.lines().count();
    let archive = super::compressed::gzip(text.as_bytes());
    write(server.folder.path(), "log.jsonl.gz", &archive);
    write(server.folder.path(), "torn.jsonl.gz", &archive[..archive.len() - 9]);
    write(server.folder.path(), "log.jsonl", text.as_bytes());
    let publish = |file: &str| run(&mut server.omen(&["publish", file, "--source", "log"]));
    let torn = publish("torn.jsonl.gz");
    assert_eq!(torn.code, 3, "{}", torn.stderr);
    assert!(
        torn.stderr.contains("the gzip archive is truncated; only what could be decoded was read"),
        "{}",
        torn.stderr
    );
    let whole = publish("log.jsonl.gz");
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    assert!(whole.stderr.contains(&format!("published {lines} packets of log.jsonl.gz")), "{}", whole.stderr);
    // Progress is counted in lines of the decoded content.
    let again = publish("log.jsonl");
    let expected = format!("published {lines} packets of log.jsonl, {lines} of them before");
    assert!(again.stderr.contains(&expected), "{}", again.stderr);
}

#[test]
fn a_log_is_published_while_it_is_written() {
    let Some(server) = Server::start() else { return };
    let text = log("invalid/e1-decision-before-belief.jsonl");
    let name = format!("PACKETS_{}", omen_worker::names::partition_of("corr_support_invoice_4471", 4));
    // The line with the mistake is being written.
    let (first, rest) = text.split_at(text.find('\n').unwrap() + 100);
    write(server.folder.path(), &name, first.as_bytes());
    let start = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
        command.args(args).args(["--nats", &server.url]).current_dir(&server.folder).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let (following, worker) = (start(&["publish", &name, "--follow"]), start(&["worker"]));
    let tail = || run(&mut server.omen(&["tail", "--no-follow", "--format", "json"]));
    let begin = Instant::now();
    while tail().code != 0 {
        assert!(begin.elapsed() < AT_ONCE, "there is no stream of findings");
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut file = std::fs::OpenOptions::new().append(true).open(server.folder.path().join(&name)).unwrap();
    file.write_all(rest.as_bytes()).unwrap();
    let found = loop {
        let found = tail();
        if found.code == 1 {
            break found;
        }
        assert!(begin.elapsed() < AT_ONCE, "{}", found.stderr);
        std::thread::sleep(Duration::from_millis(100));
    };
    let expected = run(omen(["check", &name, "--format", "json"]).current_dir(&server.folder));
    let expected: Vec<&str> = expected.stdout.lines().filter(|line| !line.contains("\"summary\"")).collect();
    // If the first line was published alone, its note is between the two lines.
    let found =
        found.stdout.replace("\"line\":3,", "\"line\":2,").replace("\"packet_index\":2,", "\"packet_index\":1,");
    assert_eq!(found.lines().collect::<Vec<_>>(), expected);
    for (process, says) in
        [(following, format!("published {} packets of {name}", text.lines().count())), (worker, "stopping".to_owned())]
    {
        kill_process(Pid::from_child(&process), Signal::TERM).unwrap();
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains(&says), "{said}");
    }
}

/// Returns a worker's standard error until a line has a text; then the worker is stopped.
fn logged(server: &Server, args: &[&str], selected: &str, until: &str) -> String {
    let mut worker = std::process::Command::new(env!("CARGO_BIN_EXE_omen"))
        .args(["worker", "--nats", &server.url])
        .args(args)
        .env("RUST_LOG", selected)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(worker.stderr.take().unwrap()).lines();
    let mut text = String::new();
    for line in lines.by_ref().map(Result::unwrap) {
        let is_last = line.contains(until);
        text = text + &line + "\n";
        if is_last {
            break;
        }
    }
    kill_process(Pid::from_child(&worker), Signal::TERM).unwrap();
    for line in lines {
        text = text + &line.unwrap() + "\n";
    }
    assert_eq!(worker.wait().unwrap().code(), Some(0), "{text}");
    text
}

#[test]
fn logs_are_lines_for_people_or_for_programs() {
    let Some(server) = Server::start() else { return };
    write(server.folder.path(), "log", log("invalid/e1-decision-before-belief.jsonl").as_bytes());
    assert_eq!(run(&mut server.omen(&["publish", "log"])).code, 0);
    let partition = u64::from(omen_worker::names::partition_of("corr_support_invoice_4471", 4));

    let json = logged(&server, &["--log-format", "json"], "omen_worker=debug", "committed");
    let events: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |message: &str| {
        let event = events.iter().find(|event| event["fields"]["message"].as_str().unwrap().contains(message));
        event.unwrap_or_else(|| panic!("no `{message}` in {json}"))
    };
    let begun = find("judging packets of");
    assert_eq!((begun["level"].as_str(), begun["fields"]["partitions"].as_u64()), (Some("INFO"), Some(4)));
    assert!(begun["timestamp"].is_string() && begun["target"] == "omen_worker::worker", "{begun}");
    let committed = find("committed");
    assert_eq!((committed["fields"]["findings"].as_u64(), committed["level"].as_str()), (Some(1), Some("DEBUG")));
    assert_eq!(committed["spans"], json!([{ "name": "partition", "partition": partition }]));

    // For people, the spans precede the message, and events that were not selected are absent.
    let text = logged(&server, &[], "", "judging");
    assert!(text.starts_with("omen: worker ") && text.contains("in 4 partitions\n"), "{text}");
    assert!(!text.contains("debug"), "{text}");
    let debugged = logged(&server, &[], "omen_worker=debug", "begins to judge");
    assert!(
        debugged.contains("omen: debug: omen_worker::worker::assignment: begins to judge a partition partition="),
        "{debugged}"
    );

    // The reason for the end of a command is an event, too.
    let closed =
        run(omen(["publish", "log", "--nats", "nats://127.0.0.1:1", "--log-format", "json"])
            .current_dir(&server.folder));
    let end: serde_json::Value = serde_json::from_str(closed.stderr.lines().last().unwrap()).unwrap();
    assert_eq!((closed.code, end["level"].as_str()), (3, Some("ERROR")), "{}", closed.stderr);
    let refused = run(omen(["tail"]).env("RUST_LOG", "omen_worker=loud"));
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("`RUST_LOG=omen_worker=loud`: "), "{}", refused.stderr);
}

#[test]
fn a_context_has_the_password() {
    let Some(server) = Server::start_with(&["--user", "omen", "--pass", "secret"]) else { return };
    write(server.folder.path(), "LOG", log("valid/read-only.jsonl").as_bytes());
    let contexts = server.folder.path().join("nats/context");
    std::fs::create_dir_all(&contexts).unwrap();
    for (name, password) in [("good", "secret"), ("bad", "guessed")] {
        let context = json!({ "url": server.url, "user": "omen", "password": password });
        std::fs::write(contexts.join(format!("{name}.json")), context.to_string()).unwrap();
    }
    let publish = |args: &[&str]| {
        let mut command = omen(["publish", "LOG"].iter().chain(args).copied());
        run(command.env("XDG_CONFIG_HOME", server.folder.path()).current_dir(&server.folder))
    };
    let good = publish(&["--context", "good"]);
    assert_eq!(good.code, 0, "{}", good.stderr);
    for wrong in [&["--context", "bad"][..], &["--nats", &server.url]] {
        let failed = publish(wrong);
        assert_eq!(failed.code, 3, "{}", failed.stderr);
        assert!(failed.stderr.contains("cannot connect to nats://127.0.0.1:"), "{}", failed.stderr);
        assert!(failed.stderr.contains("authorization") && !failed.stderr.contains("guessed"), "{}", failed.stderr);
    }
    let missing = publish(&["--context", "good", "--tls-ca", "missing.pem"]);
    assert_eq!(missing.code, 2, "{}", missing.stderr);
    assert!(missing.stderr.contains("cannot read missing.pem"), "{}", missing.stderr);
}

/// The script of the README and of `docs/scale.md`, which starts its own server: from nothing to two workers that find a planted
/// mistake.
#[test]
fn the_script_finds_the_planted_mistake() {
    let Some(binary) = Need::Nats.path() else { return };
    let folder = folder(&[]);
    for (name, program) in [("nats-server", binary), ("omen", env!("CARGO_BIN_EXE_omen").into())] {
        std::os::unix::fs::symlink(program, folder.path().join(name)).unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    // Outside the ephemeral range.
    let port = 20_000 + (RandomState::new().hash_one(()) % 12_000) as u16;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = std::process::Command::new("sh")
        .arg("deploy/local.sh")
        .current_dir(&root)
        .env("PATH", format!("{}:{path}", folder.path().display()))
        .env("NATS_PORT", port.to_string())
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("error[E1]"), "{stdout}{stderr}");
    // The page shows all of its output, and the README the first lines. The publisher writes to standard error.
    let printed = format!("$ deploy/local.sh\n{stderr}{stdout}");
    for (page, is_whole) in [("README.md", false), ("docs/scale.md", true)] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let (_, shown) = text.split_once("```text\n$ deploy/local.sh\n").expect("the page shows it");
        let shown = format!("$ deploy/local.sh\n{}", shown.split("```").next().unwrap());
        let is_shown = if is_whole { printed.trim_end() == shown.trim_end() } else { printed.starts_with(&shown) };
        assert!(is_shown, "{page} shows:\n{shown}\nprinted:\n{printed}");
    }
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "the server has ended");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "nothing is left behind");
}

#[test]
fn a_server_that_is_not_there_is_a_failure() {
    // A bound port without a listener: it refuses connections, and no other process can use it.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let free = connection.local_addr().unwrap();
    for args in [&["worker"][..], &["tail"], &["publish", "-", "--source", "a"]] {
        let failed = run(omen(args.iter().copied()).args(["--nats", &format!("nats://{free}")]).write_stdin(""));
        assert_eq!(failed.code, 3, "{}", failed.stderr);
        assert!(failed.stderr.contains(&format!("cannot connect to nats://{free}")), "{}", failed.stderr);
    }
}

#[test]
fn arguments_are_checked() {
    for (args, expected) in [
        (&["publish", "-"][..], "--source"),
        (&["publish", "a", "b", "--source", "c"], "one at a time"),
        (&["publish", "a", "b", "--follow"], "a single log in a file"),
        (&["publish", "-", "--follow"], "a single log in a file"),
        (&["worker", "--episode-ttl", "soon"], "expected a time"),
        (&["worker", "--partitions", "0"], "invalid value"),
        (&["tail", "--context", "/nowhere"], "cannot read the context"),
    ] {
        let refused = run(&mut omen(args.iter().copied()));
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
}
