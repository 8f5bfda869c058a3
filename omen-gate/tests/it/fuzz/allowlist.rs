//! PG-3 (`blocked_by_allowlist`): a tool is called exactly if it is listed, allowed in this form and granted.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::server::{Dispatch, Local, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Config, Fault, Gate, GateCode, SystemClock, TurnId};
use serde_json::json;

use super::{Case, check, without_one};
use crate::gates::{Key_, Setting};
use crate::random::Random;

/// Number of tools.
const TOOLS: usize = 5;

/// Names that look like those of tools.
const STRANGE: [&str; 8] = ["T0", "t0 ", " t0", "t00", "", "store/t0", "t\u{0030}\u{200b}", "т0"];

/// Case: the operator's configuration, the server's list, and the requested calls.
#[derive(Clone, Debug)]
struct Calls {
    listed: Vec<usize>,
    allowed: Vec<Allowed>,
    /// Indices of tools, followed by those of strange names.
    asked: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Allowed {
    tool: usize,
    /// Whether the tool is approved in its present form.
    as_it_is: bool,
    granted: bool,
}

impl Case for Calls {
    fn random(random: &mut Random) -> Self {
        let some = |random: &mut Random| (0..TOOLS).filter(|_| random.below(3) > 0).collect::<Vec<_>>();
        let listed = some(random);
        let allowed = some(random);
        let allowed = allowed.into_iter().map(|tool| {
            let (as_it_is, granted) = (random.below(4) > 0, random.below(4) > 0);
            Allowed { tool, as_it_is, granted }
        });
        let allowed = allowed.collect();
        let asked = |random: &mut Random| match random.below(5) {
            0 => TOOLS + random.below(STRANGE.len()),
            _ => random.below(TOOLS),
        };
        let asked = (0..=random.below(4)).map(|_| asked(random)).collect();
        Self { listed, allowed, asked }
    }

    fn smaller(&self) -> Vec<Self> {
        let fewer_asked = without_one(&self.asked).map(|asked| Self { asked, ..self.clone() });
        let fewer_allowed = without_one(&self.allowed).map(|allowed| Self { allowed, ..self.clone() });
        let fewer_listed = without_one(&self.listed).map(|listed| Self { listed, ..self.clone() });
        fewer_asked.chain(fewer_allowed).chain(fewer_listed).collect()
    }
}

impl Calls {
    /// Code that refuses a call, according to the statements of the codes alone.
    fn refused_by(&self, asked: usize) -> Option<GateCode> {
        let allowed = self.allowed.iter().find(|allowed| allowed.tool == asked);
        match allowed {
            _ if !self.listed.contains(&asked) => Some(GateCode::Pg2),
            None => Some(GateCode::Pg3),
            Some(allowed) if !allowed.as_it_is => Some(GateCode::Pg3),
            Some(allowed) if !allowed.granted => Some(GateCode::G1),
            Some(_) => None,
        }
    }
}

/// Server that lists some of its tools, and records calls.
#[derive(Debug)]
struct Server {
    local: Local,
    listed: Vec<usize>,
    called: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl ToolServer for Server {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        let all = self.local.list().await?;
        let is_listed = |tool: &Tool| self.listed.iter().any(|index| tool.name.as_str() == name(*index));
        Ok(all.into_iter().filter(is_listed).collect())
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        self.called.lock().unwrap().push(dispatch.tool().to_string());
        self.local.call(dispatch).await
    }
}

fn name(index: usize) -> String {
    STRANGE.get(index.wrapping_sub(TOOLS)).map_or_else(|| format!("t{index}"), |name| (*name).to_owned())
}

fn local() -> Local {
    (0..TOOLS).fold(Local::new(), |local, index| {
        let get = async |Key_ { key }| Ok::<_, String>(Setting { key, value: 50 });
        local.tool(&name(index), &format!("Reads the setting {index}."), get).unwrap()
    })
}

async fn gate(case: &Calls, called: &Arc<Mutex<Vec<String>>>) -> Gate {
    let tools = local().list().await.unwrap();
    let pin_of = |index: usize| pin(tools.iter().find(|tool| tool.name.as_str() == name(index)).unwrap()).unwrap();
    let mut text = "[servers.store]\n".to_owned();
    for Allowed { tool, as_it_is, granted } in &case.allowed {
        let pin = pin_of(if *as_it_is { *tool } else { (tool + 1) % TOOLS });
        let entry = format!("server = 'store'\ntool = '{}'\npermissions = ['READ']\n", name(*tool));
        text += &format!("[[allow]]\n{entry}pin = '{pin}'\n");
        if *granted {
            text += &format!("[[grants]]\n{entry}");
        }
    }
    let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
    let audit = Audit::over(Memory::default(), key, Arc::new(SystemClock::default()), Options::default()).unwrap();
    let server = Server { local: local(), listed: case.listed.clone(), called: Arc::clone(called) };
    let config = Config::parse(&text).unwrap();
    Gate::builder(config).audit(audit).server("store".parse().unwrap(), server).build().unwrap()
}

/// Makes a call, and returns the code that refuses it, if any.
async fn ask(gate: &Gate, number: usize, tool: &str) -> Option<GateCode> {
    let plan = json!({ "type": "call_tool", "server": "store", "tool": tool, "args": { "key": "pool" } }).to_string();
    let turn = TurnId::new(format!("turn_{number}")).unwrap();
    let request = match gate.request(turn, "what is it?").screen().await.unwrap().plan(&plan).await {
        Ok(way) => way.call().unwrap(),
        Err(blocked) => return Some(blocked.code),
    };
    let request = match request.conform().await {
        Ok(request) => request,
        Err(blocked) => return Some(blocked.code),
    };
    let request = match request.authorize().await {
        Ok(request) => request,
        Err(blocked) => return Some(blocked.code),
    };
    request.dispatch().await.err().map(|stopped| stopped.code())
}

async fn judged(case: &Calls) -> Result<(), String> {
    let called = Arc::<Mutex<Vec<String>>>::default();
    let gate = gate(case, &called).await;
    let mut expected_calls = Vec::new();
    for (number, asked) in case.asked.iter().enumerate() {
        let (tool, expected) = (name(*asked), case.refused_by(*asked));
        let found = ask(&gate, number, &tool).await;
        if found != expected {
            return Err(format!("`{tool}` gives {found:?}, and should give {expected:?}"));
        }
        expected_calls.extend(expected.is_none().then_some(tool));
    }
    match *called.lock().unwrap() == expected_calls {
        true => Ok(()),
        false => Err(format!("{:?} were called, and {expected_calls:?} may be", called.lock().unwrap())),
    }
}

#[test]
fn a_tool_is_called_exactly_if_it_is_listed_allowed_and_granted() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let seen = Mutex::new([0_u32; 4]);
    check::<Calls>(0x0A11_0000, 600, |case| {
        for asked in &case.asked {
            let which = match case.refused_by(*asked) {
                None => 0,
                Some(GateCode::Pg2) => 1,
                Some(GateCode::Pg3) => 2,
                Some(_) => 3,
            };
            seen.lock().unwrap()[which] += 1;
        }
        runtime.block_on(judged(case))
    });
    let seen = seen.into_inner().unwrap();
    assert!(seen.iter().all(|count| *count > 50), "the cases do not try all: {seen:?}");
}
