//! Plays a transcript: the calls of a client, what a human answers, and what the client reads.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use omen::{Finding, Validator, ValidatorOptions};
use omen_fsm::episode::{Line, Log};
use omen_gate::confirm::{Confirmer, Question, Reply, Responder};
use omen_proxy::episode::{Budgets, Mode, Recording};
use serde_json::{Value, json};

use crate::support::{End, World, config_recording, entries, tools};

/// A log that the test reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines(pub(crate) Arc<Mutex<Vec<String>>>);

impl Log for Lines {
    fn append(&mut self, lines: &[Line<'_>]) -> std::io::Result<()> {
        self.0.lock().unwrap().extend(lines.iter().map(|line| line.text.to_owned()));
        Ok(())
    }
}

impl Lines {
    pub(crate) fn new(lines: Vec<String>) -> Self {
        Self(Arc::new(Mutex::new(lines)))
    }

    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The types of the packets, one after the other.
    pub(crate) fn types(&self) -> Vec<String> {
        self.all().iter().map(|packet| packet["header"]["packet_type"].as_str().unwrap().to_owned()).collect()
    }

    /// What a validator finds in it, warnings included.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut validator = Validator::new(ValidatorOptions::default());
        let mut findings: Vec<Finding> = Vec::new();
        for line in self.0.lock().unwrap().iter() {
            let Ok(()) = validator.feed(format!("{line}\n").as_bytes(), &mut findings);
        }
        let Ok(_) = validator.finish(&mut findings);
        findings
    }
}

/// A human whose answers stand in the transcript. Without one, nobody answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Human(Arc<Mutex<VecDeque<bool>>>);

impl Human {
    /// The next question has this answer.
    pub(crate) fn answers(&self, answer: Option<bool>) {
        let mut answers = self.0.lock().unwrap();
        answers.clear();
        answers.extend(answer);
    }
}

#[async_trait]
impl Confirmer for Human {
    async fn confirm(&self, _: &Question) -> Reply {
        match self.0.lock().unwrap().pop_front() {
            Some(true) => Reply::ConfirmedBy(Responder::via("test")),
            Some(false) => Reply::DeniedBy { by: Responder::via("test"), why: "the client's user declined".to_owned() },
            None => Reply::Denied { why: "there is no confirmer".to_owned() },
        }
    }
}

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts"))
}

/// The transcripts, by name.
pub(crate) fn transcripts() -> Vec<(String, Vec<Value>)> {
    let mut all: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), lines)
        })
        .collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all
}

/// A first call of each tool of the episode.
pub(crate) fn first_calls() -> Vec<(String, Value)> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/episode/first_calls.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|mut line| (line["call"].as_str().unwrap().to_owned(), line["arguments"].take())).collect()
}

/// What came of a transcript.
pub(crate) struct Played {
    /// What the model has read.
    pub(crate) read: String,
    pub(crate) results: Vec<Value>,
    pub(crate) log: Lines,
    /// The calls that the server got.
    pub(crate) made: Vec<String>,
    /// What the operator reads at the end.
    pub(crate) last_note: String,
    /// The entries of the audit log that belong to turns.
    pub(crate) audit: Vec<Value>,
}

/// A server whose tools answer with their arguments, fail, or never answer.
pub(crate) async fn server(mut end: End, made: Arc<Mutex<Vec<String>>>) {
    while let Some(line) = end.line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else { continue };
        let params = &message["params"];
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"}}),
            "tools/list" => json!({"tools": tools()}),
            "tools/call" => {
                made.lock().unwrap().push(params["name"].as_str().unwrap().to_owned());
                let text = json!([{"type": "text", "text": params["arguments"].to_string()}]);
                match params["arguments"]["x"].as_str() {
                    Some("hang") => continue,
                    Some("fail") => json!({"content": text, "isError": true}),
                    _ => json!({"content": text}),
                }
            }
            _ => json!({}),
        };
        end.send(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()).await;
    }
}

/// Plays the calls of a client, one after the other.
pub(crate) async fn play(mode: Mode, lines: &[Value]) -> Played {
    play_recording(mode, lines, "full").await
}

/// The same, with so much of the arguments in the logs.
pub(crate) async fn play_recording(mode: Mode, lines: &[Value], recorded: &str) -> Played {
    let (log, human, made) = (Lines::default(), Human::default(), Arc::<Mutex<Vec<String>>>::default());
    let budget = &lines[0]["budget"]["tool_calls"];
    let budgets = Budgets { tool_calls: budget.as_u64().map(|calls| u32::try_from(calls).unwrap()), seconds: None };
    let config = config_recording("[limits]\ncall_timeout_seconds = 1\n", recorded);
    let proxy = omen_proxy::Proxy::builder(config, "session".parse().unwrap());
    let proxy = proxy.episode(Recording::new(mode, log.clone()).budgets(budgets)).confirmer(human.clone());
    let (mut world, server_end) = World::with_server(proxy);
    tokio::spawn(server(server_end, Arc::clone(&made)));
    world.client.shake_hands(json!({})).await;
    let (mut read, mut results, mut id) = (String::new(), Vec::new(), 0);
    for line in lines {
        let calls = match line["together"].as_array() {
            Some(calls) => calls.clone(),
            None if line.get("call").is_some() => vec![line.clone()],
            None => continue,
        };
        human.answers(line["user"].as_str().map(|answer| answer == "yes"));
        for call in &calls {
            id += 1;
            let params = json!({"name": call["call"], "arguments": call["arguments"]});
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            world.client.send(request.to_string()).await;
        }
        let mut answers = Vec::new();
        for _ in &calls {
            answers.push(world.client.value().await);
        }
        // Of calls that are made at once, either may be first.
        answers.sort_by_key(|answer| answer["result"]["isError"] == true);
        for answer in answers {
            show(&mut read, &calls[0], &answer["result"], calls.len() > 1);
            results.push(answer["result"].clone());
        }
    }
    let logs = world.logs.clone();
    let (_, audit) = world.close().await;
    let audit = entries(&audit);
    let made = made.lock().unwrap().clone();
    let last_note = logs.lines().last().cloned().unwrap_or_default();
    Played { read, results, log, made, last_note, audit }
}

/// A call and what a model reads of its result. Of calls that are made at once, what is legal next depends on which has ended.
fn show(read: &mut String, call: &Value, result: &Value, at_once: bool) {
    let mut asked = call["arguments"].clone();
    if let Value::Object(asked) = &mut asked {
        // The same in nearly every transcript, and long.
        asked.retain(|name, _| !["mcp", "top_options", "evidence_gaps"].contains(&name.as_str()));
    }
    writeln!(read, "> {} {asked}", call["call"].as_str().unwrap()).unwrap();
    for content in result["content"].as_array().unwrap() {
        let lines = content["text"].as_str().unwrap().lines();
        for line in lines.take_while(|line| !at_once || !line.starts_with("State: ")) {
            writeln!(read, "  {line}").unwrap();
        }
    }
    read.push('\n');
}
