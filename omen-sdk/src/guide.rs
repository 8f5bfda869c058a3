//! A guide to the typed API: from an empty file to a checked episode, and what the types and errors mean.
//!
//! # In ten minutes
//!
//! An agent acts through an [`Episode`](crate::Episode). Its state is part of its type, and each state has exactly the
//! methods that the protocol allows there.
//!
//! ## 1. Tools and scopes
//!
//! A tool is a type with its tool id and its safety class. A scope lists the tools and operations that a token allows.
//!
//! ```
//! use omen::prelude::*;
//!
//! tool!(ConfigGet = "config.get", Read);
//! tool!(ConfigSet = "config.set", Write);
//! scope!(RaisePool: tools [ConfigSet], operations [Modify]);
//! # fn main() {}
//! ```
//!
//! The [`prelude`](crate::prelude) has the names that most programs need. Import other names from their modules, as in
//! the next step.
//!
//! ## 2. The envelope
//!
//! Every packet carries an envelope: its intent, its stakes, how certain it is. For each stakes level there is a function
//! that fills in what most envelopes of the level share: `low`, `medium`, [`high`](crate::OpenEnvelope::high) and
//! `critical`.
//!
//! ```
//! use omen::packet::Timestamp;
//! use omen::prelude::*;
//!
//! fn envelope(seen: Timestamp) -> Envelope<HighStakes, Superb, ToolsOk> {
//!     OpenEnvelope::high(
//!         Intent::new(text!("drop the old index"), text!("database orders")),
//!         Done::when(text!("no query uses the index"), ["index.uses == 0"]),
//!         Evidence::tool_output(text!("config.get#1"), seen),
//!     )
//!     .seal()
//! }
//! ```
//!
//! With a struct literal, the author states every field, and a missing one does not compile (INV-001). The stakes level
//! is not written: the compiler derives it from the four axes (INV-012).
//!
//! ```
//! use omen::facts::{
//!     Budgets, Epistemics, Operational, Quality, Risk, Routing, Stakes, adversariality, impact, irreversibility,
//!     uncertainty,
//! };
//! use omen::packet::{TaskClass, Timestamp};
//! use omen::prelude::*;
//!
//! fn envelope(seen: Timestamp) -> Envelope<MediumStakes, Par, ToolsOk> {
//!     OpenEnvelope {
//!         intent: Intent::new(text!("raise the connection pool"), text!("database orders")),
//!         stakes: Stakes {
//!             impact: impact::Medium,
//!             irreversibility: irreversibility::Reversible,
//!             uncertainty: uncertainty::Low,
//!             adversariality: adversariality::Benign,
//!         },
//!         quality: Quality::par(text!("the pool is 80 and healthy"), ["pool.max == 80"]),
//!         budgets: Budgets { tokens: 8_000, tool_calls: 10, seconds: 300, risk: Risk::new(text!("careful"), 10) },
//!         epistemics: Epistemics::new(Observed, Operational, unit!(0.9), text!("read a minute ago")),
//!         evidence: Evidence::tool_output(text!("config.get#1"), seen),
//!         routing: Routing { task_class: TaskClass::Create, tools: ToolsOk },
//!     }
//!     .seal()
//! }
//! ```
//!
//! ## 3. The agent
//!
//! Each move takes the episode and returns it in its next state. What is known only at run time (an exhausted budget,
//! an expired token) is returned as an error that holds the episode.
//!
//! ```
//! # use omen::prelude::*;
//! # tool!(ConfigSet = "config.set", Write);
//! # scope!(RaisePool: tools [ConfigSet], operations [Modify]);
//! fn agent(episode: Episode<Idle>, envelope: &Envelope<MediumStakes, Par, ToolsOk>) -> Result<Closed, Halt> {
//!     let episode = episode
//!         .observe(Observation::user_input(Observed, fields!({ "ask": "raise the pool to 80" })))
//!         .believe(Belief::new("db", "pool.max", 50));
//!     let ruling = match arbitrate() {
//!         Ok(ruling) => ruling,
//!         // No option is left: record that, and stop.
//!         Err(none) => {
//!             let ruling = none.instead(Tradeoff::SafetyFirst, &text!("nothing is allowed"));
//!             let episode = episode.cancel(ruling, envelope).believe(Belief::new("db", "pool.raised", false));
//!             return Ok(episode.close()?);
//!         }
//!     };
//!     let episode = episode.act(ruling.to_act(), envelope)?;
//!     let (episode, [permit]) = episode.authorize::<RaisePool, 1>(TokenSpec::new(60, text!("ticket 77")))?;
//!     let set = Directive::new(ConfigSet, op::Modify, fields!({ "pool.max": 80 })).with(permit);
//!     let (episode, [task]) = episode.execute([set])?;
//!     // Here the tool runs.
//!     let episode = episode.settle([task.success("ok")])?;
//!     Ok(episode.review(Belief::revision("db", "pool.max", 50, 80)).close()?)
//! }
//!
//! fn arbitrate() -> Result<Ruling, NothingLeft> {
//!     let allowed = Arbitration::of(["raise", "restart"]).veto(|option| option.id != "restart")?;
//!     Ok(allowed.feasible(|_| true)?.tradeoff(Tradeoff::SafetyFirst, &text!("the smallest step")))
//! }
//! # fn main() {}
//! ```
//!
//! ## 4. Run and check
//!
//! The program gives an episode its clock, ids and log. `JsonLines` writes to any [`Write`](std::io::Write); by
//! default, the log stays in memory.
//!
//! ```
//! # use omen::prelude::*;
//! # fn demo(envelope: &Envelope<MediumStakes, Par, ToolsOk>) -> Result<(), Box<dyn std::error::Error>> {
//! # let file: Vec<u8> = Vec::new();
//! let episode = Setup::new("corr_orders".parse()?, envelope, SystemClock::default()).log(JsonLines(file)).start()?;
//! # let _ = episode;
//! # Ok(())
//! # }
//! ```
//!
//! Any `Fn() -> Instant` is also a clock, for instance in a test: `move || start`. An [`Instant`](crate::Instant) is a
//! date and time as in packets, and a [`SystemTime`](std::time::SystemTime) converts into it with `.into()`. It is not
//! [`std::time::Instant`]; a program that needs both imports one under another name.
//!
//! [`Setup::run`](crate::Setup::run) starts an episode, passes it to an agent, and requires the proof that this very
//! episode has closed. [`LogFile`](crate::log_file::LogFile) is a log in a file that no other process can write.
//!
//! A correlation id begins once: `start` refuses an id that has begun in this process or is in the log. A resumed
//! episode takes its log over; an earlier handle of it writes nothing from then on.
//!
//! `omen check` accepts every log that an episode has written, because the same machine judges every packet before it is written.
//! If the log itself fails, it is unknown how much of the step it holds. So every later step fails, and the episode cannot close:
//! resume it from its log with [`AnyEpisode::resume`](crate::AnyEpisode::resume).
//!
//! ## 5. When something fails
//!
//! Tools fail, and `?` returns early. [`execute_with`](crate::Episode::execute_with) calls a tool and records its
//! result: an error of the tool becomes a FAILURE in the log, and is returned with the episode.
//!
//! ```
//! # use omen::prelude::*;
//! # tool!(ConfigGet = "config.get", Read);
//! # fn call(_: &omen::packet::ExecutionMethod) -> Result<u32, std::num::ParseIntError> { "50".parse() }
//! fn pool(episode: Episode<Decide<Act>>) -> Result<Closed, Halt> {
//!     let read = Directive::new(ConfigGet, op::Read, fields!({ "key": "pool.max" })).ready();
//!     let (episode, pool) = match episode.execute_with(read, |task| call(task.method())) {
//!         Ok((episode, pool)) => (episode, Some(pool)),
//!         // The failure is in the log, and the episode continues.
//!         Err(ExecuteError::Failed(failed)) => (failed.episode, None),
//!         Err(refused) => return Err(refused.into()),
//!     };
//!     Ok(episode.review(Belief::new("db", "pool.max", pool)).close()?)
//! }
//! # fn main() {}
//! ```
//!
//! `execute_each` does the same for several directives, `check_with` in a verification loop, and each has an async form
//! (`execute_with_async`, …).
//!
//! An episode that is dropped before it has closed, by `?`, an early return, a panic or a cancelled future, still ends
//! legally: by default its open directives are closed as CANCELLED, and it goes to `Review` by the shortest legal path.
//! [`Setup::on_drop`](crate::Setup::on_drop) sets another policy: to halt, to escalate, or to leave the log for a
//! process that resumes it. Only a leaked episode (`mem::forget`) writes nothing; resume it from its log to end it.
//!
//! A program that carries out tasks without a [gate](crate::gate) must begin each with
//! [`Pending::start`](crate::Pending::start), which returns the only handle that may call the tool, and check this
//! handle again right before the tool takes effect:
//!
//! ```
//! # use omen::prelude::*;
//! # fn write() -> i32 { 80 }
//! fn carry_out(task: Pending) -> Settled {
//!     match task.start() {
//!         Ok(running) if running.stands().is_ok() => running.success(write()),
//!         Ok(running) => running.not_called().cancelled(),
//!         Err(not_started) => not_started.task.cancelled(),
//!     }
//! }
//! ```
//!
//! A task may run only while its directive is open in its episode: not in safe mode, not after its result, not after
//! its token was revoked or has expired, and not after the episode has closed, was dropped or was resumed elsewhere.
//!
//! # The states
//!
//! ```text
//! Idle ─observe─► Sense ─believe─► Model ─act──────────► Decide<Act> ─authorize─► Authorize
//!                   ▲               │  ▲                     │                        │
//!                   │               │  │                     └──execute──► Open<Execute, N> ◄┘ execute
//!                   │               │  └── remodel ───────── Execute ◄── settle ──┘
//!                   │               │                          │
//!                   └── observe ──  Review ◄──── review ───────┘        Review ─close─► Closed
//!                                   │
//!        Model ─verify_first─► Verify<P, O, T> ─verify, check, observe, believe─► Model
//!        Model ─to_escalate──► Decide<Escalate> ─escalate─► Escalated ─answered─► Decide<Undecided>
//!        Model ─defer, cancel─► Decide<Stop> ─believe─► Review
//!        any   ─halt─► SafeMode ─clear─► Review
//! ```
//!
//! `omen graph` draws the whole table.
//!
//! # What an error means
//!
//! | Compile error | Meaning |
//! |---|---|
//! | E0277 with the code of a rule | the move breaks that rule; the note names the fix |
//! | E0382, E0507: use of a moved value, move out of a borrow | an episode, a permit, a ruling or a task was used twice, or moved out of a reference; each can be used once |
//! | E0277: `Default` is not implemented | `mem::take` and `unwrap_or_default` cannot make an episode; store it in an `Option` |
//! | E0063: missing fields | the envelope is incomplete (INV-001) |
//! | E0080: evaluation panicked | a `text!` is empty, or a `unit!` is not between 0 and 1 |
//! | E0308: expected `Closed` | the agent returns before its episode has closed |
//! | unused value that must be used | an episode, a task or a permit was dropped |
//! | E0521, E0597 and other lifetime errors | not caused by this API: nothing in it borrows an episode |
//!
//! # Holding an episode
//!
//! A struct can store an episode with its state as a type, or, if the state changes, as an
//! [`AnyEpisode`](crate::AnyEpisode), which a `match` converts back:
//!
//! ```
//! # use omen::prelude::*;
//! struct Agent {
//!     episode: Option<AnyEpisode>,
//! }
//!
//! impl Agent {
//!     fn hears(&mut self, words: &str) {
//!         let Some(episode) = self.episode.take() else { return };
//!         self.episode = Some(match episode {
//!             AnyEpisode::Idle(episode) => {
//!                 episode.observe(Observation::user_input(Observed, fields!({ "words": words }))).into_any()
//!             }
//!             AnyEpisode::Escalated(episode) => episode.answered(Answer::data(fields!({ "words": words }))).into_any(),
//!             other => other,
//!         });
//!     }
//! }
//! ```
//!
//! In async code nothing changes: an episode is `Send`, `Sync` and `'static`, and may be held across an `.await`.
//!
//! ```
//! # use omen::prelude::*;
//! # async fn call(task: &Pending) -> Result<i64, String> { let _ = task; Ok(50) }
//! async fn carry_out(
//!     episode: Episode<Decide<Act>>,
//!     order: Order<ReadOnly>,
//! ) -> Result<Episode<Execute>, Halt> {
//!     let (episode, [task]) = episode.execute([order])?;
//!     let result = match call(&task).await {
//!         Ok(value) => task.success(value),
//!         Err(_) => task.failure(text!("the tool did not answer")),
//!     };
//!     Ok(episode.settle([result])?)
//! }
//! ```
//!
//! A helper that is generic over every state can call the methods of all states: `halt`, `alert`, `trouble`, `ledger`,
//! `into_any`.
//!
//! ```
//! # use omen::prelude::*;
//! fn watched<S>(episode: Episode<S>, load: f64) -> Result<Episode<S>, Episode<SafeMode>> {
//!     if load > 0.99 {
//!         return Err(episode.halt(text!("the host is overloaded")));
//!     }
//!     Ok(episode.alert(Alert::info(AlertType::Drift, text!("the load was checked"))))
//! }
//! ```
//!
//! A helper that calls a move is generic over the states that have it, with a capability as the bound:
//! [`CanObserve`](crate::CanObserve), [`CanBelieve`](crate::CanBelieve), [`CanAct`](crate::CanAct) and so on. The
//! associated type of a capability is the state that the move leads to. This helper accepts both `Idle` and `Review`:
//!
//! ```
//! # use omen::prelude::*;
//! use omen::episode::CanObserve;
//!
//! fn heard<S: CanObserve<Observed = Sense>>(episode: Episode<S>, words: &str) -> Episode<Model> {
//!     let said = Observation::user_input(Observed, fields!({ "words": words }));
//!     episode.observe(said).believe(Belief::new("chat", "last", words))
//! }
//! ```
//!
//! The capability of a move that differs between states, [`CanExecute`](crate::CanExecute), has the class of the orders as
//! its parameter; [`CanVerify`](crate::CanVerify) sends a plan. `check` needs none: it is generic over the progress of its
//! loop. This helper accepts each state that may send a directive that reads:
//!
//! ```
//! # use omen::prelude::*;
//! use omen::episode::CanExecute;
//!
//! fn sent<S: CanExecute<ReadOnly>>(
//!     episode: Episode<S>,
//!     order: Order<ReadOnly>,
//! ) -> Result<(Episode<S::Executed<1>>, Pending), Halt> {
//!     let (episode, [task]) = episode.execute([order])?;
//!     Ok((episode, task))
//! }
//! ```
//!
//! A closure can leave the state of its parameter to the compiler if its move has a capability and the result is not
//! used further: `|episode: Episode<_>| episode.cancel(ruling, envelope)`. A move that differs between states, such as
//! `believe`, which closes a verification loop and returns a proof there, needs the state: `|episode: Episode<Model>|`.
//!
//! A loop goes from a state to the same state. A loop of decisions goes from `Model` to `Model`, so its first step
//! needs no special case, and there may be no step at all:
//!
//! ```
//! # use omen::prelude::*;
//! # tool!(LookUp = "ticket.get", Read);
//! # fn ruling() -> Result<Ruling, NothingLeft> {
//! #     Ok(Arbitration::of(["look"]).veto(|_| true)?.feasible(|_| true)?.tradeoff(Tradeoff::SafetyFirst, &text!("next")))
//! # }
//! # type Plain = Envelope<LowStakes, Par, ToolsOk>;
//! # type Failed = Box<dyn std::error::Error>;
//! fn all(mut episode: Episode<Model>, tickets: &[u32], envelope: &Plain) -> Result<Closed, Failed> {
//!     for ticket in tickets {
//!         let look = Directive::new(LookUp, op::Read, fields!({ "id": *ticket })).ready();
//!         let acting = episode.act(ruling()?.to_act(), envelope)?;
//!         // Here the tool runs.
//!         let (done, answer) = acting.execute_with(look, |_task| Ok::<_, String>("solved"))?;
//!         episode = done.remodel(Belief::new("tickets", ticket.to_string(), answer));
//!     }
//!     let stopped = episode.cancel(ruling()?, envelope);
//!     Ok(stopped.believe(Belief::new("tickets", "open", 0)).close()?)
//! }
//! # fn main() {}
//! ```
//!
//! A loop of directives goes from `Execute` to `Execute`:
//!
//! ```
//! # use omen::prelude::*;
//! use omen::episode::AnyClass;
//!
//! fn all(mut episode: Episode<Execute>, orders: Vec<Order<AnyClass>>) -> Result<Episode<Execute>, Halt> {
//!     for order in orders {
//!         let (open, [task]) = episode.execute([order])?;
//!         episode = open.settle([task.success(true)])?;
//!     }
//!     Ok(episode)
//! }
//! ```
//!
//! # Generated payloads
//!
//! Where a move takes a short form, such as [`Observation`](crate::Observation) or [`Belief`](crate::Belief), it also
//! takes the generated payload: `observe`, `answered`, `believe`, `review`, `remodel`, `verify`, `authorize`,
//! `execute`, `check`, `escalate`, `alert` and `halt` accept the payload itself ([`Says`](crate::Says) lists which). So
//! an agent that gets its payloads from another source sends them unchanged, and every member of the schemas can be
//! set.
//!
//! ```
//! # use omen::prelude::*;
//! use omen::json;
//! use omen::packet::{
//!     BeliefChange, BeliefUpdatePayload, ExecutionMethod, ObservationPayload, ObservationType, ReadTaskType,
//!     ReliabilityMetadata, TaskDirectivePayload,
//! };
//!
//! # fn demo(episode: Episode<Idle>, envelope: &Envelope<LowStakes, Par, ToolsOk>, ruling: Ruling)
//! #     -> Result<(), Box<dyn std::error::Error>> {
//! let seen = ObservationPayload::builder()
//!     .observation_type(ObservationType::ToolOutput)
//!     .data(fields!({ "pool": 20 }).into_map())
//!     .reliability_metadata(ReliabilityMetadata::builder().tool_success(true).build())
//!     .build()?;
//! let change = BeliefChange::builder().domain("db").key("pool").prior_value(json!(null)).new_value(json!(20)).build();
//! let believed = BeliefUpdatePayload::new_belief().belief_changes([change]).build();
//! let asked = TaskDirectivePayload::read()
//!     .task_id("task_recall".parse()?)
//!     .task_type(ReadTaskType::MemoryLookup)
//!     .execution_method(ExecutionMethod::memory_query().build())
//!     .build();
//! let episode = episode.observe(seen).believe(believed).act(ruling.to_act(), envelope).map_err(Halt::from)?;
//! let (episode, [task]) = episode.execute([asked]).map_err(Halt::from)?;
//! # let _ = (episode, task.cancelled());
//! # Ok(())
//! # }
//! ```
//!
//! A payload proves nothing. Where a move requires a proof, the proof takes the payload:
//!
//! | Proof | How to pass a payload | Refused |
//! |---|---|---|
//! | a directive may write (E4, INV-007) | `execute([payload])` if it reads; else `Directive::stating(payload).sort()`, whose `.with(permit)` spends a permit | a directive that may write without a permit, even if the payload names a live token |
//! | an arbitration ran (INV-006) | `ruling.stating(payload)` | another option or outcome |
//! | an assumption is verified (INV-003) | `order.relies_on(proof.verifies(..))` in addition to the payload | a list of other assumptions |
//! | the scope and uses of the permits of a token (INV-007) | `authorize::<Scope, N>(payload)` | other tools, operations or uses |
//! | a result belongs to its task (E6) | `task.result(payload)` | another task, or data in a failure |
//! | layer 1 ends safe mode (E7) | `order.stating(payload)` | a severity other than CLEAR |
//! | the numbers of options and gaps of an escalation (E5) | `escalate(payload)` | other numbers, when the payload is built and when it is sent |
//!
//! A step with an error in its type returns it. A step without one (`observe`, `believe`, `escalate`, `alert`, …)
//! accepts every payload from its builder: a value that is nested too deep for a packet becomes its JSON text, and a
//! record that is too long is shortened. If a payload does not fit its move, such as an alert of severity CRITICAL,
//! nothing is written, and [`Episode::trouble`](crate::Episode::trouble) returns the error.
//!
//! The setters of optional members are generated from the schemas, including those of the header
//! ([`Setup`](crate::Setup)) and of the envelope ([`Envelope`](crate::Envelope)). A member that is added to a schema
//! gets its setter in the next build.
//!
//! # When a model decides
//!
//! [`AnyEpisode::propose`](crate::AnyEpisode::propose) takes a move that a model writes as JSON. If it is refused, the
//! error holds the episode and a reason that the model can read:
//!
//! ```
//! # use omen::prelude::*;
//! # fn demo(episode: AnyEpisode) {
//! match episode.propose(r#"{"packet_type": "DecisionPacket", "payload": {"decision_outcome": "ACT"}}"#) {
//!     Ok(moved) => println!("now {:?}", moved.episode),
//!     Err(refused) => println!("tell the model: {}", refused.why),
//! }
//! # }
//! ```
//!
//! A model cannot send packets that speak for others (tokens, user input, results of tasks, alerts). The program sends
//! them with a typed call, or allows the model to send them, with [`Allow`](crate::Allow) and
//! [`AnyEpisode::propose_with`](crate::AnyEpisode::propose_with). An envelope of the model cannot state lower stakes
//! than its axes justify. The axes themselves are not checked: a program that does not trust the model with them must
//! not accept `mcp` in proposals.
//!
//! [`AnyEpisode::moves_for`](crate::AnyEpisode::moves_for) lists the events that a proposal may cause next, given what
//! the model is allowed; put them into its prompt. If only parts are known at run time, there is a typed call for each:
//! the outcome of a decision with [`Episode::decide`](crate::Episode::decide), a tool with
//! [`Directive::named`](crate::Directive::named), the scope of a token with
//! [`Episode::authorize_named`](crate::Episode::authorize_named), an envelope with [`DynEnvelope`](crate::DynEnvelope).
//!
//! A model with structured output takes a JSON Schema of its answer. With the feature `schemars`, every type in
//! [`packet`](crate::packet) implements `JsonSchema`: `omen::schemars::schema_for!(DecisionPayload)` is the schema of the
//! protocol, with descriptions, bounds and conditionals, and with the definitions that it needs and no others. A program's own
//! type that contains packet types can derive `JsonSchema`, too. [`Checked::parse`](crate::packet::parse::Checked::parse)
//! parses the answer, with findings that the model can read; `propose` then checks whether it is legal. The example
//! `structured_output` does both.
//!
//! # When nothing is known yet
//!
//! An envelope with a claim about the present needs live evidence, or `seal` does not compile. A guess without evidence
//! is a [`Hypothesis`](crate::Hypothesis), made with `OpenEnvelope::hypothesis`. Decisions to verify first, to escalate, to
//! defer or to cancel accept it, with a warning in the log.
//!
//! ```
//! # use omen::episode::{Unplanned, Unseen};
//! # use omen::facts::Hypothesis;
//! # use omen::prelude::*;
//! fn look_first(
//!     episode: Episode<Model>,
//!     ruling: Ruling,
//!     guess: &Hypothesis<LowStakes, Par, ToolsOk>,
//! ) -> Result<Episode<Verify<Unplanned, Unseen, ToolsOk>>, Halt> {
//!     Ok(episode.verify_first(ruling, guess)?)
//! }
//! # fn main() {}
//! ```
//!
//! # Packets by builder
//!
//! An agent with its own transport needs no episode. [`packet`](crate::packet) has a builder for every packet and every
//! object in it. Where a schema has conditionals, each case is a branch with its own builder: the members that the
//! branch requires are required by type, those that it excludes cannot be set, and `build()` cannot fail. The length and depth of
//! a packet depend on all its parts: the `build()` of a packet returns an error if a reader would refuse it.
//!
//! | Object | Branches |
//! |---|---|
//! | [`TaskDirectivePayload`](crate::packet::TaskDirectivePayload) | `read`, `write`, `mixed`, `unclassified` |
//! | [`ExecutionMethod`](crate::packet::ExecutionMethod) | `tool`, `code`, `llm_call`, `memory_query` |
//! | [`TaskResultPayload`](crate::packet::TaskResultPayload) | `success`, `failure`, `cancelled` |
//! | [`BeliefUpdatePayload`](crate::packet::BeliefUpdatePayload) | `new_belief`, `revision`, `contradiction_resolved`, `confidence_adjustment`, `staleness_refresh` |
//! | [`Evidence`](crate::packet::Evidence) | `absent`, `present` |
//!
//! A directive that writes does not compile without its token:
//!
//! ```compile_fail,E0277
//! use omen::packet::{ExecutionMethod, TaskDirectivePayload, TaskType};
//!
//! # fn demo() -> Result<TaskDirectivePayload, omen::Invalid> {
//! Ok(TaskDirectivePayload::write()
//!     .task_id("task_1".parse()?)
//!     .task_type(TaskType::ToolWrite)
//!     .execution_method(ExecutionMethod::tool().tool_id("config.set").build())
//!     .build()) // E4: missing field `authorization_token_id`
//! # }
//! ```
//!
//! Use the plain `builder()` of an object if its case is known only at run time. If the object has conditionals, or
//! bounds that no type expresses, its `build()` returns the errors that a reader would report.
//!
//! An [`Origin`](crate::builder::Origin) makes the header: id and time from a source
//! ([`Stamps`](crate::episode::Stamps) combines an id source and a clock), the correlation id, and the layer that sends
//! such a packet (D63). `.sent_by(layers::Layer1)` sends from another layer; one that does not send the packet does not
//! compile. For more fields, pass the origin to the builder of the packet:
//! `DecisionPacket::builder().origin(&mut origin)?.mcp(envelope).payload(decision).build()?`. The packet type follows
//! from the packet. `.mcp(..)` takes a typed envelope or a plain `McpEnvelope`.
//!
//! ```
//! use omen::builder::Origin;
//! use omen::episode::{Numbered, Stamps, TimeSource};
//! use omen::packet::{ObservationPacket, ObservationPayload, ObservationType, Packet, PacketFacts};
//! use omen::prelude::*;
//! use omen::{Machine, json};
//!
//! # fn demo(envelope: &Envelope<LowStakes, Par, ToolsOk>, clock: impl TimeSource) -> Result<(), Box<dyn std::error::Error>> {
//! // Ids, times and episode; the layer of each packet follows from its type.
//! let mut origin = Origin::new("corr_orders".parse()?, Stamps(Numbered::new("orders"), clock));
//! let payload = ObservationPayload::builder()
//!     .observation_type(ObservationType::UserInput)
//!     .data(fields!({ "ask": "raise the pool to 80" }).into_map())
//!     .build()?; // an error if the data is empty
//! // An error if a reader would refuse the packet, for instance for its length.
//! let packet: ObservationPacket = origin.packet(envelope, payload)?;
//!
//! // The machine checks what a single packet cannot show, such as the order of packets.
//! let mut machine = Machine::default();
//! let line = json!(Packet::from(packet)).to_string();
//! let facts = PacketFacts::parse(&line)?;
//! let verdict = machine.judge(&facts, None);
//! if verdict.errors().next().is_none() {
//!     machine.accept(&facts, &verdict);
//!     println!("{line}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The example `own_wire` is a complete agent of this kind; in `payloads` an episode sends payloads from
//! builders.
//!
//! # Resuming
//!
//! [`AnyEpisode::resume`](crate::AnyEpisode::resume) resumes an episode from its log, in any state. The program needs
//! none of the earlier ids: `tasks()` returns the open tasks, `live_tokens()` the tokens that a directive can use, and
//! `claim_any` the permits of the first token that covers a scope.
//!
//! ```
//! # use omen::prelude::*;
//! use omen::episode::Many;
//!
//! # tool!(ConfigSet = "config.set", Write);
//! # scope!(RaisePool: tools [ConfigSet], operations [Modify]);
//! fn go_on(episode: Episode<Many<Execute>>) -> Result<Episode<Execute>, Box<dyn std::error::Error>> {
//!     // It is unknown how far these tools came, so the tasks are cancelled.
//!     let results = episode.tasks().into_iter().map(Pending::cancelled);
//!     let episode = episode.settle(results)?.all_settled()?;
//!     let [permit] = episode.claim_any::<RaisePool, 1>()?;
//!     let set = Directive::new(ConfigSet, op::Modify, fields!({ "pool.max": 80 })).with(permit);
//!     Ok(episode.execute_with(set, |_task| Ok::<_, String>(80))?.0)
//! }
//! # fn main() {}
//! ```
//!
//! # What the types check, and what they cannot
//!
//! | Rule | At compile time | At run time |
//! |---|---|---|
//! | E1 | a decision is a method of `Model`, `Fork` and `Decide<Undecided>` | |
//! | E2 | `authorize` and `execute` follow `act` | |
//! | E3, INV-008 | plan, READ, SUCCESS (or degraded tools), OBSERVED, then the belief update, which cites them by itself; decisions are not methods of `Verify` | the agent judges what a result supports; a proof from an earlier loop |
//! | E4, INV-007 | a directive that writes has a permit, its scope lists the tool, the operation and an operation that writes, and it is spent once | expiry, revocation, constraints on resources, an `operation` in the parameters, a permit of another episode |
//! | E5, INV-009 | two or three options, a gap, a next step | |
//! | E6, INV-011 | as many results as directives; each task is settled once | a result of another episode, or of a task that another handle runs; a late result is a warning |
//! | E7 | `SafeMode` has only `believe`, `alert`, `halt` and `clear` | |
//! | INV-001 | the envelope is a literal; texts are not empty | |
//! | INV-002, INV-003, INV-010 | bounds of `act`, `verify_first` and `defer` | all of it, with `decide` and `propose` |
//! | INV-004 | `seal` requires live evidence where a claim needs it; a `Hypothesis` allows decisions other than ACT | the age of the evidence, as a warning |
//! | INV-005 | | budgets: the step is refused, `close` too; the error holds the episode |
//! | INV-006 | veto, feasibility and tradeoff in this order | whether an option survives |
//! | INV-012 | the level is derived from the axes | `DynEnvelope` and `propose` refuse a level that is too low; in a log it is a warning |
//!
//! The types trust the program that a tool is `Read`, that a result supports an assumption, and that an envelope is
//! true.
//!
//! An unused episode is a compiler warning (`unused_must_use`), and its drop policy ends its log. A caller that holds a
//! [`Layer1`](crate::Layer1) can give orders of layer 1: the types cannot check who may hold it. Each order allows one
//! use.
