//! Attempts to get around order rules, in `evasions.txt`: each with what holds it, run through the proxy over HTTP.

use std::collections::BTreeMap;
use std::time::Duration;

use omen_gate::{Config, GateClock as _};
use omen_proxy::Proxy;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::story::{Act, Policy, Script, Story};
use crate::http::client::Client;
use crate::http::world::until;

/// Tools of all rows.
const TOOLS: [&str; 10] = [
    "ci/run",
    "ci/deploy",
    "ci/rollback",
    "ci/approve",
    "ci/note",
    "ci/open",
    "ci/close",
    "files/write",
    "files/run",
    "bank/pay",
];

/// Row of the table.
struct Row<'t> {
    name: &'t str,
    rules: BTreeMap<&'t str, Vec<&'t str>>,
    steps: Vec<&'t str>,
}

impl<'t> Row<'t> {
    fn read(text: &'t str) -> Self {
        let (name, rest) = text.split_once('\n').unwrap();
        let mut row = Self { name, rules: BTreeMap::new(), steps: Vec::new() };
        let mut lines = rest.lines().filter(|line| !line.is_empty());
        assert!(lines.next().is_some_and(|line| line.starts_with("holds: ")), "{name}: what holds it?");
        for line in lines {
            match line.strip_prefix("rule ") {
                Some(rule) => row.add_rule(rule),
                None => row.steps.push(line),
            }
        }
        row
    }

    fn add_rule(&mut self, rule: &'t str) {
        let (tool, keys) = rule.split_once(": ").unwrap();
        self.rules.entry(tool).or_default().push(keys);
    }

    fn policy(&self) -> Policy {
        let entry = |tool: &&str| {
            let (server, name) = tool.split_once('/').unwrap();
            let keys = self.rules.get(tool).map(|keys| keys.join("\n")).unwrap_or_default();
            format!("[[allow]]\nserver = \"{server}\"\ntool = \"{name}\"\n{keys}\n")
        };
        Policy::new(&TOOLS.iter().map(entry).collect::<String>())
    }
}

/// Proxy of a row, and its clients by the names of their sessions.
struct World {
    story: Story,
    clients: BTreeMap<String, Client>,
    folder: tempfile::TempDir,
    reload: mpsc::Sender<()>,
    reloads: usize,
    next: u64,
}

const MORE: &str = "[order]\ngather = '0s'\n[limits]\ncall_timeout_seconds = 1\n";

impl World {
    async fn begun(row: &Row<'_>, script: Script, log: omen_gate::audit::store::Memory) -> Self {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let policy = row.policy();
        let folder = tempfile::tempdir().unwrap();
        let (reload, when) = mpsc::channel(1);
        let path = folder.path().join("gate.toml");
        std::fs::write(&path, policy.complete(MORE)).unwrap();
        let proxy = Proxy::builder(Config::load(&path).unwrap(), format!("session_{number}").parse().unwrap());
        let proxy = proxy.reload(path, when);
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let story = Story::over(proxy, &policy, Some(listener), script, log).await;
        Self { story, clients: BTreeMap::new(), folder, reload, reloads: 0, next: 100 }
    }

    async fn client(&mut self, session: &str) -> Client {
        if !self.clients.contains_key(session) {
            let client = self.story.another().await;
            self.clients.insert(session.to_owned(), client);
        }
        self.clients[session].clone()
    }

    /// The code of the refusal of a call; nothing if it was made.
    async fn call(&mut self, session: &str, tool: &str, args: Value) -> Option<String> {
        self.next += 1;
        let id = self.next;
        let answer = self.client(session).await.call(id, &tool.replacen('/', "__", 1), args).await;
        code(&answer)
    }

    async fn reload(&mut self, row: &Row<'_>) {
        std::fs::write(self.folder.path().join("gate.toml"), row.policy().complete(MORE)).unwrap();
        self.reload.send(()).await.unwrap();
        self.reloads += 1;
        let (logs, reloads) = (&self.story.logs, self.reloads);
        until(|| logs.lines().iter().filter(|line| line.contains("was reloaded")).count() == reloads).await;
    }

    async fn flood(&mut self, count: u64, tool: &str, args: &Value) -> u64 {
        let client = self.client("a").await;
        let (tool, mut calls) = (tool.replacen('/', "__", 1), tokio::task::JoinSet::new());
        for id in 0..count {
            let (client, tool, args) = (client.clone(), tool.clone(), args.clone());
            calls.spawn(async move { client.call(1000 + id, &tool, args).await });
        }
        let answers = calls.join_all().await;
        answers.iter().filter(|answer| code(answer).is_none()).count() as u64
    }
}

fn code(answer: &Value) -> Option<String> {
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"]["_meta"]["omen/decision"]["code"].as_str().map(str::to_owned)
}

fn set_wall(script: &Script, seconds: i64) {
    let by = Duration::from_secs(seconds.unsigned_abs());
    let now = script.clock.wall();
    script.clock.set_wall(if seconds < 0 { now - by } else { now + by });
}

/// Runs a row, and says where it came out otherwise.
async fn run(mut row: Row<'_>) -> Result<(), String> {
    let mut world = World::begun(&row, Script::new(), omen_gate::audit::store::Memory::default()).await;
    for step in row.steps.clone() {
        let (command, wanted) = step.split_once(" => ").map_or((step, None), |(step, wanted)| (step, Some(wanted)));
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let (first, last) = rest.split_once(' ').unwrap_or((rest, ""));
        let got = match verb {
            "act" if last == "holds" => {
                world.story.script.next(first, Act { holds: true, ..Act::default() });
                None
            }
            "act" => {
                world.story.script.next(first, Act { more: serde_json::from_str(last).unwrap(), ..Act::default() });
                None
            }
            "wait" => {
                world.story.script.clock.advance(Duration::from_secs(first.parse().unwrap()));
                None
            }
            "wall" => {
                set_wall(&world.story.script, first.parse().unwrap());
                None
            }
            "end" => {
                let client = world.clients.remove(first).unwrap();
                assert!(client.send("DELETE", "/mcp", "").await.status < 300);
                None
            }
            "reload" => {
                row.rules.remove(first.trim_end_matches(':'));
                row.add_rule(rest);
                world.reload(&row).await;
                None
            }
            "restart" => {
                let script = world.story.script.clone();
                let (log, ..) = world.story.end().await;
                world = World::begun(&row, script, log).await;
                None
            }
            "flood" => {
                let (tool, args) = last.split_once(' ').unwrap();
                let args = serde_json::from_str(args).unwrap();
                Some(world.flood(first.parse().unwrap(), tool, &args).await.to_string())
            }
            session => world.call(session, first, serde_json::from_str(last).unwrap()).await,
        };
        if got.as_deref() != wanted {
            return Err(format!("{}: `{step}`: {got:?}", row.name));
        }
    }
    drop(world.story.end().await);
    Ok(())
}

#[tokio::test]
async fn every_way_around_a_rule_is_held_by_something() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/order/evasions.txt");
    let table = std::fs::read_to_string(table).unwrap();
    let rows: Vec<_> = table.split("# ").skip(1).map(Row::read).collect();
    assert!(rows.len() >= 60, "{}", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        println!("{}", row.name);
        wrong.extend(run(row).await.err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
