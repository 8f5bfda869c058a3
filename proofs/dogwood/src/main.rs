//! Decisions by Dogwood's engine and by the gate, in one run and with the same premises: a `read` needs an earlier `login` on
//! some server.
//!
//! Dogwood has a policy for each server, any one of which permits the call. The gate has one rule per 32 servers, and all of its
//! rules must hold. Both have seen a login on one server of each rule, and both must refuse a `read` before that.

#[path = "../../src/bench/order/calls.rs"]
mod calls;
#[path = "../../src/bench/samples.rs"]
mod samples;

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use dogwood_language::{
    Authorizer, Event, EventBuilder, LoweredPolicySet, PolicySchema, ServiceSchema, UNPINNED_EVENT_SCHEMA, Value,
};
use dogwood_local_engine::{DurableError, DurableLog, DurableTemporalEngine, Outcome};

use calls::{callers, each, gate, in_parallel, middles, sync};
use samples::Samples;

/// Reason why the measurement cannot run.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Numbers of policies, or of the gate's premises.
const POLICIES: [u32; 3] = [10, 100, 1_000];
/// Number of synced calls per round and measure by one caller, and by each of several.
const SYNCED: u32 = 100;
const OF_EACH: u32 = 10;
/// Number of calls in memory per round and measure. Their interpreter reads the whole trace for each, so it has fewer.
const IN_MEMORY: u32 = 1_000;
const INTERPRETED: u32 = 100;
/// Number of events between two snapshots, as in the example of their README.
const SNAPSHOT: u64 = 1_000;

/// Vocabulary of the policies.
const SCHEMA: &str = r#"
namespace Store {
  type Input = { server: String };
  entity Gateway;
  entity User;
  action "login" appliesTo { principal: [User], resource: [Gateway], context: { input: Input } };
  action "read" appliesTo { principal: [User], resource: [Gateway], context: { input: Input } };
}
"#;

/// Measured quantity, in microseconds or calls per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    TheirDecision,
    TheirCall,
    OurCall,
    TheirCallers,
    OurCallers,
    TheirCallInMemory,
    OurCallInMemory,
    TheirInterpreter,
    Sync,
}

impl Measure {
    /// Columns of the table.
    const COLUMNS: [(Self, &str); 8] = [
        (Self::TheirDecision, "Dogwood, synced: a decision, µs"),
        (Self::TheirCall, "Dogwood, synced: a decision and the outcome, µs"),
        (Self::OurCall, "the gate, synced: a whole call, µs"),
        (Self::TheirCallers, "Dogwood, synced, 64 callers: calls/s"),
        (Self::OurCallers, "the gate, synced, 64 callers: calls/s"),
        (Self::TheirCallInMemory, "Dogwood's engine in memory: a decision and the outcome, µs"),
        (Self::TheirInterpreter, "Dogwood's interpreter in memory: a decision, µs"),
        (Self::OurCallInMemory, "the gate, log in memory: a whole call, µs"),
    ];
}

fn main() -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        return Err("build it with `--release`".into());
    }
    let rounds = std::env::args().nth(1).map_or(Ok(5), |rounds| rounds.parse::<u32>())?;
    let samples = measure(rounds)?;
    println!(
        "medians of {rounds} rounds; a write of 300 bytes and its sync: {:.0} µs\n",
        samples.median((Measure::Sync, 0))
    );
    println!("{:60}{:>10}{:>10}{:>10}{:>14}", "policies", "10", "100", "1,000", "1,000 over 10");
    for (measure, name) in Measure::COLUMNS {
        let [few, some, many] = POLICIES.map(|policies| samples.median((measure, policies)));
        let ratio = samples.ratio((measure, POLICIES[2]), (measure, POLICIES[0]));
        println!("{name:60}{few:10.0}{some:10.0}{many:10.0}{ratio:14.2}");
    }
    Ok(())
}

/// Measures everything, alternating between both sides within a round.
fn measure(rounds: u32) -> Result<Samples<(Measure, u32)>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let mut samples = Samples::default();
    for _ in 0..rounds {
        let folder = tempfile::tempdir()?;
        samples.add((Measure::Sync, 0), sync(&folder.path().join("bare"), SYNCED)?);
        for policies in POLICIES {
            let mut add = |measure, value| samples.add((measure, policies), value);
            let [store, log] = ["redb", "jsonl"].map(|ending| folder.path().join(format!("{policies}.{ending}")));
            let mut theirs = engine(policies, Some(&store))?;
            let ours = runtime.block_on(gate(policies, "", Some(&log)))?;
            add(Measure::TheirDecision, micros(SYNCED, |_| decide(&mut theirs))?);
            add(Measure::OurCall, runtime.block_on(each(&ours, "read", SYNCED))?);
            add(Measure::TheirCall, micros(SYNCED, |_| call(&mut theirs))?);
            let theirs = Mutex::new(theirs);
            let of_theirs = |_| {
                (0..OF_EACH).try_for_each(|_| {
                    decide(&mut *theirs.lock().map_err(|_| "a caller panicked")?)?;
                    record(&mut *theirs.lock().map_err(|_| "a caller panicked")?)
                })
            };
            add(Measure::TheirCallers, in_parallel(OF_EACH, of_theirs)?);
            add(Measure::OurCallers, callers(&ours, OF_EACH)?);

            let (mut theirs, ours) = (engine(policies, None)?, runtime.block_on(gate(policies, "", None))?);
            add(Measure::TheirCallInMemory, micros(IN_MEMORY, |_| call(&mut theirs))?);
            add(Measure::OurCallInMemory, runtime.block_on(each(&ours, "read", IN_MEMORY))?);
            let mut interpreter = interpreter(policies)?;
            add(Measure::TheirInterpreter, micros(INTERPRETED, |number| interpret(&mut interpreter, number))?);
        }
    }
    Ok(samples)
}

/// Returns the microseconds of a call.
fn micros(calls: u32, mut call: impl FnMut(u32) -> Result<(), Failure>) -> Result<f64, Failure> {
    let begun = Instant::now();
    (0..calls).try_for_each(&mut call)?;
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(calls))
}

fn policies(number: u32) -> String {
    let policy = |server| {
        format!(
            "@id(\"read_{server}\") permit (principal, action == Store::Action::\"read\", resource)\n\
             when temporal {{ formerly within 1h Store::Action::\"login\"::response{{ input.server: \"s{server}\" }} }};\n"
        )
    };
    (0..number).map(policy).collect()
}

fn event(action: &str, kind: &str, server: u32) -> EventBuilder {
    let server = Value::String(format!("s{server}"));
    Event::builder(&format!("Store::Action::{action}"), kind)
        .principal("Store::User::\"someone\"")
        .resource("Store::Gateway::\"store\"")
        .field("input", "server", server.clone())
        .request_context("input", "server", server)
}

/// Returns their durable engine, in a file or in memory, after the logins.
fn engine(number: u32, store: Option<&Path>) -> Result<DurableTemporalEngine, Failure> {
    let failed = |error: DurableError| error.to_string();
    let mut engine = match store {
        Some(store) => DurableTemporalEngine::open(store, SNAPSHOT),
        None => DurableTemporalEngine::open_with_log(DurableLog::ephemeral()?, "memory".into(), SNAPSHOT),
    }
    .map_err(failed)?;
    engine.install(&policies(number), SCHEMA, Some(UNPINNED_EVENT_SCHEMA), None).map_err(failed)?;
    if decide(&mut engine).is_ok() {
        return Err("a read was permitted without a login".into());
    }
    for server in middles(number) {
        engine.submit(event("login", "response", server)).map_err(failed)?;
    }
    Ok(engine)
}

fn decide(engine: &mut DurableTemporalEngine) -> Result<(), Failure> {
    match engine.submit(event("read", "request", 0)).map_err(|error| error.to_string())?.outcome {
        Outcome::Decision(decision) if decision.allowed() => Ok(()),
        other => Err(format!("expected a permission, got {other:?}").into()),
    }
}

fn record(engine: &mut DurableTemporalEngine) -> Result<(), Failure> {
    engine.submit(event("read", "response", 0)).map_err(|error| error.to_string())?;
    Ok(())
}

fn call(engine: &mut DurableTemporalEngine) -> Result<(), Failure> {
    decide(engine)?;
    record(engine)
}

/// Returns the interpreter that defines their language, after the logins.
fn interpreter(number: u32) -> Result<Authorizer, Failure> {
    let service = ServiceSchema::builder().event_schema_str(UNPINNED_EVENT_SCHEMA).build()?;
    let schema = PolicySchema::from_cedarschema_str(SCHEMA)?;
    let mut authorizer = Authorizer::new(LoweredPolicySet::from_str(&policies(number), &service, &schema)?);
    for server in middles(number) {
        authorizer.is_authorized(&event("login", "response", server).build());
    }
    Ok(authorizer)
}

/// Decides a request at a second after the logins.
fn interpret(authorizer: &mut Authorizer, number: u32) -> Result<(), Failure> {
    let event = event("read", "request", 0).timestamp(i64::from(number) + 1).build();
    match authorizer.is_authorized(&event) {
        Some(decision) if decision.allowed() => Ok(()),
        other => Err(format!("expected a permission, got {other:?}").into()),
    }
}
