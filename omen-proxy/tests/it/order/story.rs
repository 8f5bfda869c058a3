//! A scripted model in front of a proxy with a set clock: what it calls, and what it reads.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_gate::mcp::ServerLimits;
use omen_gate::tool::Tool;
use omen_gate::{Config, Fault, GateClock, ManualClock};
use omen_mcp::http::server::HttpLimits;
use omen_proxy::{Proxy, ProxyBuilder, Source, Transport};
use omen_testkit::logs::Logs;
use serde_json::{Value, json};
use tokio::io::{duplex, split};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::http::client::Client;
use crate::http::world::local;
use crate::support::{End, KEY, within};

/// Policy of a story: entries of `[[allow]]` as an operator writes them, without permissions and pins.
pub(crate) struct Policy {
    text: String,
    tools: Vec<(String, String)>,
}

impl Policy {
    pub(crate) fn new(entries: &str) -> Self {
        let values = |key: &str| {
            let start = format!("{key} = \"");
            let value = |line: &str| Some(line.strip_prefix(&start)?.trim_end_matches('"').to_owned());
            entries.lines().filter_map(value).collect::<Vec<_>>()
        };
        Self { text: entries.to_owned(), tools: values("server").into_iter().zip(values("tool")).collect() }
    }

    pub(crate) fn config(&self, more: &str) -> Config {
        Config::parse(&self.complete(more)).unwrap()
    }

    /// The whole configuration.
    pub(crate) fn complete(&self, more: &str) -> String {
        let mut entries = self.tools.iter();
        let mut text = format!("{more}\n[audit]\nlog = 'l'\nkey_file = 'k'\n");
        for server in self.servers() {
            text += &format!("[servers.{server}]\n");
        }
        for part in self.text.split_inclusive("[[allow]]\n").skip(1) {
            let (_, name) = entries.next().unwrap();
            let tool: Tool = serde_json::from_value(tool(name)).unwrap();
            text += &format!("[[allow]]\npermissions = ['READ']\npin = '{}'\n", pin(&tool).unwrap());
            text += part.trim_end_matches("[[allow]]\n");
        }
        for (server, tool) in &self.tools {
            text += &format!("[[grants]]\nserver = '{server}'\ntool = '{tool}'\npermissions = ['READ']\n");
        }
        text
    }

    fn servers(&self) -> Vec<&str> {
        let mut servers: Vec<_> = self.tools.iter().map(|(server, _)| server.as_str()).collect();
        servers.sort_unstable();
        servers.dedup();
        servers
    }

    fn tools_of(&self, server: &str) -> Vec<Value> {
        self.tools.iter().filter(|(of, _)| of == server).map(|(_, name)| tool(name)).collect()
    }
}

fn tool(name: &str) -> Value {
    let members =
        ["about", "cents", "commit", "env", "id", "invoice", "items", "more", "path", "structuredContent", "to"];
    let properties: serde_json::Map<_, _> = members.map(|member| (member.to_owned(), json!({}))).into_iter().collect();
    let schema = json!({ "type": "object", "properties": properties });
    json!({ "name": name, "description": format!("Does `{name}`."), "inputSchema": schema })
}

/// What a tool does when it is called next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Act {
    /// Seconds that it takes.
    pub(crate) takes: u64,
    /// Structured content of its answer.
    pub(crate) content: Option<Value>,
    /// Further members of its answer.
    pub(crate) more: Value,
    /// Whether it answers only when the test lets it.
    pub(crate) holds: bool,
}

/// What the servers do.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) clock: Arc<ManualClock>,
    acts: Arc<Mutex<BTreeMap<String, VecDeque<Act>>>>,
    pub(crate) release: Arc<Notify>,
    pub(crate) called: Arc<Mutex<Vec<String>>>,
}

impl Script {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)));
        Self { clock, acts: Arc::default(), release: Arc::default(), called: Arc::default() }
    }

    pub(crate) fn next(&self, tool: &str, act: Act) {
        self.acts.lock().unwrap().entry(tool.to_owned()).or_default().push_back(act);
    }

    fn take(&self, tool: &str) -> Act {
        self.called.lock().unwrap().push(tool.to_owned());
        self.acts.lock().unwrap().get_mut(tool).and_then(VecDeque::pop_front).unwrap_or_default()
    }

    async fn serve(self, mut end: End, tools: Vec<Value>) {
        let mut held: Option<(Value, Act)> = None;
        loop {
            let line = tokio::select! {
                biased;
                () = self.release.notified(), if held.is_some() => {
                    if let Some((id, act)) = held.take() {
                        end.send(self.answer(&id, &act)).await;
                    }
                    continue;
                }
                line = end.line() => line,
            };
            let Some(line) = line else { return };
            let message: Value = serde_json::from_str(&line).unwrap();
            let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else { continue };
            let params = &message["params"];
            let result = match message["method"].as_str().unwrap() {
                "initialize" => json!({"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                    "serverInfo": {"name": "test", "version": "1"}}),
                "tools/list" => json!({ "tools": tools }),
                "tools/call" => {
                    let act = self.take(params["name"].as_str().unwrap());
                    if act.holds {
                        held = Some((id.clone(), act));
                    } else {
                        end.send(self.answer(id, &act)).await;
                    }
                    continue;
                }
                _ => json!({}),
            };
            end.send(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()).await;
        }
    }

    fn answer(&self, id: &Value, act: &Act) -> String {
        self.clock.advance(Duration::from_secs(act.takes));
        let mut result = json!({ "content": [{ "type": "text", "text": "done" }] });
        if let Some(content) = &act.content {
            result["structuredContent"] = content.clone();
        }
        for (name, member) in act.more.as_object().into_iter().flatten() {
            result[name] = member.clone();
        }
        json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
    }
}

/// Confirms every call.
#[derive(Debug)]
struct Agrees;

#[async_trait]
impl Confirmer for Agrees {
    async fn confirm(&self, _: &Question) -> Reply {
        Reply::Confirmed
    }
}

/// Client of a story.
enum Caller {
    Stdio(End),
    Http(Client),
}

/// A story that runs.
pub(crate) struct Story {
    caller: Caller,
    /// Client over HTTP without a session.
    base: Option<Client>,
    pub(crate) script: Script,
    pub(crate) logs: Logs,
    pub(crate) log: Memory,
    proxy: JoinHandle<()>,
    stop: Option<oneshot::Sender<()>>,
    /// Time that the story shows, in seconds.
    shown: u64,
    next: u64,
    pub(crate) read: String,
}

impl Story {
    pub(crate) async fn stdio(policy: &Policy, more: &str) -> Self {
        Self::begun(policy, more, None, Script::new(), Memory::default()).await
    }

    pub(crate) async fn http(policy: &Policy, more: &str) -> Self {
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        Self::begun(policy, more, Some(listener), Script::new(), Memory::default()).await
    }

    /// Holds calls without their premise back, as by default.
    pub(crate) async fn held_back(policy: &Policy) -> Self {
        let proxy = Proxy::builder(policy.config(""), "session_held".parse().unwrap());
        Self::over(proxy, policy, None, Script::new(), Memory::default()).await
    }

    pub(crate) async fn begun(
        policy: &Policy,
        more: &str,
        http: Option<TcpListener>,
        script: Script,
        log: Memory,
    ) -> Self {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let config = policy.config(&format!("[order]\ngather = '0s'\n{more}"));
        let proxy = Proxy::builder(config, format!("session_{number}").parse().unwrap()).show_order(true);
        Self::over(proxy, policy, http, script, log).await
    }

    pub(crate) async fn over(
        proxy: ProxyBuilder,
        policy: &Policy,
        http: Option<TcpListener>,
        script: Script,
        log: Memory,
    ) -> Self {
        let clock: Arc<dyn GateClock> = script.clock.clone();
        let audit =
            Audit::over(log.clone(), Key::from_hex(KEY).unwrap(), Arc::clone(&clock), Options::default()).unwrap();
        let logs = Logs::capture();
        let mut proxy = proxy.audit(audit).clock(clock).confirmer(Agrees);
        for server in policy.servers() {
            let (script, tools) = (script.clone(), policy.tools_of(server));
            let limits = ServerLimits { line_bytes: 1 << 20, ..ServerLimits::default() };
            let source = Source::streams(limits, move || {
                let (near, far) = duplex(1 << 16);
                tokio::spawn(script.clone().serve(End::new(far), tools.clone()));
                let (output, input) = split(near);
                Ok::<_, Fault>((input, output))
            });
            proxy = proxy.server(server.parse().unwrap(), source);
        }
        let proxy = proxy.build().unwrap();
        let (stop, until) = oneshot::channel::<()>();
        let until = async move { drop(until.await) };
        let (transport, caller) = match http {
            Some(listener) => {
                let client = Client::new(listener.local_addr().unwrap());
                (Transport::http(listener, local(), HttpLimits::default()), Caller::Http(client))
            }
            None => {
                let (client, near) = duplex(1 << 16);
                let (input, output) = split(near);
                (Transport::streams(input, output), Caller::Stdio(End::new(client)))
            }
        };
        let serving = async move { drop(proxy.serve(transport, until).await.unwrap()) };
        let proxy = tokio::spawn(serving.instrument(logs.span()));
        let base = match &caller {
            Caller::Stdio(_) => None,
            Caller::Http(client) => Some(client.clone()),
        };
        let caller = match caller {
            Caller::Stdio(mut end) => {
                end.shake_hands(json!({})).await;
                Caller::Stdio(end)
            }
            Caller::Http(client) => Caller::Http(client.shake_hands(json!({})).await),
        };
        Self { caller, base, script, logs, log, proxy, stop: Some(stop), shown: 0, next: 0, read: String::new() }
    }

    /// Another client over HTTP, with a session of its own.
    pub(crate) async fn another(&self) -> Client {
        self.base.as_ref().expect("over HTTP only").shake_hands(json!({})).await
    }

    /// Lets time pass until this one of the story.
    pub(crate) fn at(&mut self, minutes: u64, seconds: u64) {
        let time = 60 * minutes + seconds;
        self.script.clock.advance(Duration::from_secs(time - self.shown));
        self.shown = time;
    }

    /// Sets the time that the story shows, where the clock has it already.
    pub(crate) fn shows(&mut self, minutes: u64, seconds: u64) {
        self.shown = 60 * minutes + seconds;
    }

    /// Calls a tool, and notes what the model reads.
    pub(crate) async fn call(&mut self, tool: &str, args: Value) -> Value {
        self.asks(tool, &args);
        self.next += 1;
        let answer = match &mut self.caller {
            Caller::Stdio(end) => end.call(self.next, tool, args).await,
            Caller::Http(client) => client.call(self.next, tool, args).await,
        };
        self.reads(&answer);
        answer
    }

    /// The code of the refusal of a call; nothing if it was made.
    pub(crate) async fn code(&mut self, tool: &str, args: Value) -> Option<String> {
        let answer = self.call(tool, args).await;
        answer["result"]["_meta"]["omen/decision"]["code"].as_str().map(str::to_owned)
    }

    /// Sends a call without waiting for its answer. Returns its id.
    pub(crate) async fn send(&mut self, tool: &str, args: Value) -> u64 {
        self.asks(tool, &args);
        self.next += 1;
        let Caller::Stdio(end) = &mut self.caller else { panic!("over streams only") };
        let params = json!({ "name": tool, "arguments": args });
        end.send(json!({"jsonrpc": "2.0", "id": self.next, "method": "tools/call", "params": params}).to_string())
            .await;
        self.next
    }

    /// What the client reads next.
    pub(crate) async fn next(&mut self) -> Value {
        let Caller::Stdio(end) = &mut self.caller else { panic!("over streams only") };
        end.value().await
    }

    pub(crate) async fn list(&mut self) -> Value {
        self.next += 1;
        match &mut self.caller {
            Caller::Stdio(end) => end.ask(self.next, "tools/list", json!({})).await,
            Caller::Http(client) => client.ask(self.next, "tools/list", json!({})).await.json(),
        }
    }

    fn asks(&mut self, tool: &str, args: &Value) {
        self.read += &format!("{}:{:02}  {tool} {args}\n", self.shown / 60, self.shown % 60);
    }

    pub(crate) fn reads(&mut self, answer: &Value) {
        let result = &answer["result"];
        let decision = &result["_meta"]["omen/decision"];
        let text = match decision["code"].as_str() {
            Some(code) => {
                let text = |member: &str| decision[member].as_str().unwrap();
                format!("{code}: {}. What to do: {}.", text("reason"), text("help").trim_end_matches('.'))
            }
            None => match result.get("structuredContent") {
                Some(content) => format!("ok {content}"),
                None => "ok".to_owned(),
            },
        };
        self.read += &format!("      {text}\n");
    }

    /// Ends everything without a word, as a kill does.
    pub(crate) async fn killed(self) -> (Script, Memory) {
        self.proxy.abort();
        let _ = self.proxy.await;
        (self.script, self.log)
    }

    /// Closes the client's end, or stops the proxy, and waits until it has ended.
    pub(crate) async fn end(mut self) -> (Memory, Logs, String) {
        match &mut self.caller {
            Caller::Stdio(end) => end.close().await,
            Caller::Http(_) => drop(self.stop.take()),
        }
        let rest = async {
            if let Caller::Stdio(end) = &mut self.caller {
                while end.line().await.is_some() {}
            }
        };
        let (ended, ()) = tokio::join!(within(&mut self.proxy), rest);
        ended.unwrap();
        (self.log, self.logs, self.read)
    }
}
