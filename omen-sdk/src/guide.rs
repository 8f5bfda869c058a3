//! The typed API, from an empty file to a checked episode, and what its types and errors mean.
//!
//! # In ten minutes
//!
//! An agent acts through an [`Episode`](crate::Episode). Its type says what state it is in, and each state
//! has the methods that the protocol allows there, and no others.
//!
//! ## 1. Tools and scopes
//!
//! A tool is a type with its id on the wire and its safety class. A scope says what a token is good for.
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
//! The [`prelude`](crate::prelude) has what such a program types daily. The rest is in the module that it belongs to, as
//! the next step shows.
//!
//! ## 2. The envelope
//!
//! Every packet carries an envelope: what it is for, what is at stake, how sure it is. It is a struct
//! literal, so a member that is left out does not compile (INV-001). The level of the stakes is nowhere
//! stated: the compiler derives it from the four axes (INV-012).
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
//! Each move takes the episode and gives it back in its next state. What can only be known at run time
//! (a budget that is spent, a token that has expired) comes back as an error with the episode in it.
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
//!         // No option is left: say so, and stop.
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
//! An episode gets its time, ids and log from outside. `JsonLines` writes to anything that is
//! [`Write`](std::io::Write); without it, the log stays in memory.
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
//! Any `Fn() -> Instant` is a clock, too, as a test needs it: `move || start`. An [`Instant`](crate::Instant) is a time of
//! day as packets have it, and made of a [`SystemTime`](std::time::SystemTime) with `.into()`; it is not
//! [`std::time::Instant`], which a program that needs both imports by another name.
//!
//! [`Setup::run`](crate::Setup::run) starts an episode, hands it to an agent, and takes only the proof that this very
//! episode has closed. [`LogFile`](crate::log_file::LogFile) is a log in a file that nobody else writes.
//!
//! A correlation id begins once: `start` refuses one that has begun in this process, or that the log holds. An episode
//! that was resumed takes its log over; a handle of it that is left from before writes nothing any more.
//!
//! What it has written, `omen check` accepts: every packet is judged by the same machine before it is
//! written. If the log itself fails, nobody knows how much of the step it holds, so no further step is taken and the episode
//! does not close: [`AnyEpisode::resume`](crate::AnyEpisode::resume) takes it up with what the log holds.
//!
//! ## 5. When something fails
//!
//! Tools fail, and `?` returns. [`execute_with`](crate::Episode::execute_with) calls a tool and takes its result in,
//! whatever it is: the tool's error becomes a FAILURE in the log, and the episode comes back with it.
//!
//! ```
//! # use omen::prelude::*;
//! # tool!(ConfigGet = "config.get", Read);
//! # fn call(_: &omen::packet::ExecutionMethod) -> Result<u32, std::num::ParseIntError> { "50".parse() }
//! fn pool(episode: Episode<Decide<Act>>) -> Result<Closed, Halt> {
//!     let read = Directive::new(ConfigGet, op::Read, fields!({ "key": "pool.max" })).ready();
//!     let (episode, pool) = match episode.execute_with(read, |task| call(task.method())) {
//!         Ok((episode, pool)) => (episode, Some(pool)),
//!         // The failure is in the log, and the episode goes on.
//!         Err(ExecuteError::Failed(failed)) => (failed.episode, None),
//!         Err(refused) => return Err(refused.into()),
//!     };
//!     Ok(episode.review(Belief::new("db", "pool.max", pool)).close()?)
//! }
//! # fn main() {}
//! ```
//!
//! `execute_each` does so for several directives, `check_with` in a verification loop, and each has a form for tools that
//! are waited for (`execute_with_async`, …).
//!
//! An episode that is dropped before it has closed, by `?`, an early return, a panic or a future that is cancelled,
//! ends legally all the same: by default its open directives are closed as CANCELLED, and it goes to `Review` by the
//! shortest legal way. [`Setup::on_drop`](crate::Setup::on_drop) chooses another policy: to halt, to escalate, or to leave
//! the log for a process that resumes it. Only an episode that is leaked (`mem::forget`) runs nothing; resume it from its
//! log to end it.
//!
//! Whoever carries a task out without a [gate](crate::gate) begins it with [`Pending::start`](crate::Pending::start), which
//! gives the one handle that may call the tool, and asks it again right before the tool takes effect:
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
//! A task stands only while its directive is open in its episode: not in safe mode, after a result, with a token that
//! was revoked or has expired, nor once the episode has closed, was dropped or was resumed elsewhere.
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
//! `omen graph` draws the table itself.
//!
//! # What an error means
//!
//! | rustc says | It means |
//! |---|---|
//! | E0277, and a rule's code | the move breaks that rule; the note says the legal way out |
//! | E0382, E0507, use or move of what is gone or borrowed | an episode, a permit, a ruling or a task was used twice, or taken out of what only lends it: each is good once |
//! | E0277, `Default` is not implemented | `mem::take` and `unwrap_or_default` would make an episode of nothing: hold it in an `Option` |
//! | E0063, missing fields | the envelope is not complete (INV-001) |
//! | E0080, evaluation panicked | a `text!` is empty, or a `unit!` is not within 0 and 1 |
//! | E0308, expected `Closed` | the agent returns from the middle of an episode |
//! | unused value that must be used | an episode, a task or a permit was dropped |
//! | E0521, E0597 and other lifetimes | never from here: nothing in the API borrows an episode |
//!
//! # Holding an episode
//!
//! In a struct whose state does not change, by its type; in one whose state does, as
//! [`AnyEpisode`](crate::AnyEpisode), which a `match` turns back:
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
//! In async code as anywhere: it is `Send`, `Sync` and `'static`, and may be held across an `.await`.
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
//! A helper for any state has what every state has: `halt`, `alert`, `trouble`, `ledger`, `into_any`.
//!
//! ```
//! # use omen::prelude::*;
//! fn watched<S>(episode: Episode<S>, load: f64) -> Result<Episode<S>, Episode<SafeMode>> {
//!     if load > 0.99 {
//!         return Err(episode.halt(text!("the host is overloaded")));
//!     }
//!     Ok(episode.alert(Alert::info(AlertType::Drift, text!("the load was looked at"))))
//! }
//! ```
//!
//! A helper for the states that have a move names the capability: [`CanObserve`](crate::CanObserve),
//! [`CanBelieve`](crate::CanBelieve), [`CanAct`](crate::CanAct) and so on, one for each move that several states have. Its
//! associated type is the state that the move leads to. This helper takes `Idle` as well as `Review`:
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
//! A closure has to name the state of its parameter, `|episode: Episode<Model>|`: of `Episode<_>` rustc says that it
//! finds several methods of the name.
//!
//! In a loop, from a state to the same state. A loop whose steps are decisions goes from `Model` to `Model`, so its first
//! step is as every other, and there may be none:
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
//! One whose steps are directives goes from `Execute` to `Execute`:
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
//! What the typed API has short forms for, such as [`Observation`](crate::Observation) and [`Belief`](crate::Belief), it
//! takes as a generated payload, too: `observe`, `answered`, `believe`, `review`, `remodel`, `verify`, `authorize`,
//! `execute`, `check`, `escalate`, `alert` and `halt` are called with the payload itself ([`Says`](crate::Says) lists which).
//! So an agent that has its payloads from elsewhere sends them as they are, and nothing that the schemas have is out of
//! reach.
//!
//! ```
//! # use omen::prelude::*;
//! use omen::json;
//! use omen::packet::{
//!     BeliefChange, BeliefUpdatePayload, ExecutionMethod, ObservationPayload, ObservationType, ReliabilityMetadata,
//!     TaskDirectivePayload, TaskType,
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
//!     .task_type(TaskType::MemoryLookup)
//!     .execution_method(ExecutionMethod::memory_query().build())
//!     .build();
//! let episode = episode.observe(seen).believe(believed).act(ruling.to_act(), envelope).map_err(Halt::from)?;
//! let (episode, [task]) = episode.execute([asked]).map_err(Halt::from)?;
//! # let _ = (episode, task.cancelled());
//! # Ok(())
//! # }
//! ```
//!
//! A payload says, and proves nothing. What the types prove otherwise stays proved:
//!
//! | What is proved | A payload comes in by | What contradicts the proof |
//! |---|---|---|
//! | that a directive may write (E4, INV-007) | `execute([payload])` if it reads; else `NamedDirective::stating(payload).sort()`, whose `.with(permit)` spends a permit | is refused, also where the payload names a live token |
//! | that an arbitration ran (INV-006) | `ruling.stating(payload)` | another option or outcome is refused |
//! | that an assumption is verified (INV-003) | `order.relies_on(proof.verifies(..))` beside the payload | a list of other assumptions is refused |
//! | what a token's permits stand for (INV-007) | `authorize::<Scope, N>(payload)` | other tools, operations or uses are refused |
//! | that a result is of its task (E6) | `task.result(payload)` | another task, or data of a failure, is refused |
//! | that layer 1 ends safe mode (E7) | `order.stating(payload)` | a severity other than CLEAR is refused |
//! | how many options and gaps an escalation has (E5) | `escalate(payload)` | is counted when the payload is built and when it is sent |
//!
//! A step that can fail returns what is refused. One that cannot (`observe`, `believe`, `escalate`, `alert`, …) takes every
//! payload that its builder gives: a value that is nested deeper than a packet may be becomes its JSON text, and a record
//! that is too long is shortened. A payload that does not fit its move, such as an alert of severity CRITICAL, is kept as
//! [`Episode::trouble`](crate::Episode::trouble), and nothing is written.
//!
//! Setters of optional members are generated from the schemas, those of the header ([`Setup`](crate::Setup)) and of the
//! envelope ([`Envelope`](crate::Envelope)) among them, so one that a schema gains is there after a build.
//!
//! # When a model decides
//!
//! [`AnyEpisode::propose`](crate::AnyEpisode::propose) takes what a model writes as JSON. A move that is
//! refused comes back with the episode, and with a reason that the model can read:
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
//! A model speaks for itself alone. What others have to say (tokens, what a human has said, results of tasks, alerts)
//! the program says with a typed call; or it allows the model to, with [`Allow`](crate::Allow) and
//! [`AnyEpisode::propose_with`](crate::AnyEpisode::propose_with). Nor may an envelope that the model writes state lower
//! stakes than its own axes justify. The axes themselves are the model's word: a program that does not trust it
//! with them gives proposals no `mcp`.
//!
//! [`AnyEpisode::moves_for`](crate::AnyEpisode::moves_for) lists the events that a proposal may make happen next, given what
//! the model is allowed, to tell it beforehand. Where
//! only parts are known at run time, there is a typed call for each: a decision's outcome with
//! [`Episode::decide`](crate::Episode::decide), a tool with [`NamedDirective`](crate::NamedDirective), a token's scope
//! with [`Episode::authorize_named`](crate::Episode::authorize_named), an envelope with
//! [`DynEnvelope`](crate::DynEnvelope).
//!
//! # When nothing is known yet
//!
//! A claim about the present needs live evidence, or the envelope does not seal. A guess that nobody has looked into is a
//! [`Hypothesis`](crate::Hypothesis): `OpenEnvelope::hypothesis` makes it, and a decision to verify first, to escalate, to defer or to
//! cancel takes it, with a warning in the log.
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
//! An agent that has a wire of its own needs no episode. [`packet`](crate::packet) has a builder for every packet and for
//! every object in one. Where a schema has conditionals, each of their cases is a branch with a builder of its own: what
//! the branch demands is required by type, what it leaves out cannot be set, and `build()` cannot fail.
//!
//! | Object | Its branches |
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
//! The plain `builder()` of an object is for a case that is known at run time only. If the object has conditionals, or
//! bounds that no type carries, its `build()` gives the errors that a reader would report.
//!
//! The builder of a packet states the packet's type by itself. Id and time are injected with `.stamp(..)`
//! ([`Stamps`](crate::episode::Stamps) makes a stamp of an id source and a clock), or given one by one; `.mcp(..)` takes an envelope
//! of facts or a plain `McpEnvelope`.
//!
//! ```
//! use omen::episode::{Numbered, Stamps, TimeSource};
//! use omen::packet::{
//!     LayerNumber, LayerSource, ObservationPacket, ObservationPayload, ObservationType, Packet, PacketFacts,
//! };
//! use omen::prelude::*;
//! use omen::{Machine, json};
//!
//! # fn demo(envelope: &Envelope<LowStakes, Par, ToolsOk>, clock: impl TimeSource) -> Result<(), Box<dyn std::error::Error>> {
//! let mut stamps = Stamps(Numbered::new("orders"), clock);
//! let payload = ObservationPayload::builder()
//!     .observation_type(ObservationType::UserInput)
//!     .data(fields!({ "ask": "raise the pool to 80" }).into_map())
//!     .build()?; // the data may not be empty
//! let packet: ObservationPacket = ObservationPacket::builder()
//!     .stamp(&mut stamps)?
//!     .correlation_id("corr_orders".parse()?)
//!     .layer_source(LayerSource::LayerNumber(LayerNumber::of::<6>()))
//!     .mcp(envelope)
//!     .payload(payload)
//!     .build();
//!
//! // What one packet cannot show, such as the order of packets, the machine judges before it is sent.
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
//! The example `own_wire` is a whole agent of this kind; in `built_payloads` an episode sends what builders have made.
//!
//! # Resuming
//!
//! [`AnyEpisode::resume`](crate::AnyEpisode::resume) takes an episode up from its log, in whatever state. The program needs
//! no id that it had before: `tasks()` gives the open tasks, `live_tokens()` the tokens that are good for a directive, and
//! `claim_any` takes permits from the first that covers a scope.
//!
//! ```
//! # use omen::prelude::*;
//! use omen::episode::Many;
//!
//! # tool!(ConfigSet = "config.set", Write);
//! # scope!(RaisePool: tools [ConfigSet], operations [Modify]);
//! fn go_on(episode: Episode<Many<Execute>>) -> Result<Episode<Execute>, Box<dyn std::error::Error>> {
//!     // Nobody knows how far these tools came: look, and say so.
//!     let results = episode.tasks().into_iter().map(Pending::cancelled);
//!     let episode = episode.settle(results)?.all_settled()?;
//!     let [permit] = episode.claim_any::<RaisePool, 1>()?;
//!     let set = Directive::new(ConfigSet, op::Modify, fields!({ "pool.max": 80 })).with(permit);
//!     Ok(episode.execute_with(set, |_task| Ok::<_, String>(80))?.0)
//! }
//! # fn main() {}
//! ```
//!
//! # What the types carry, and what they cannot
//!
//! | Rule | While compiling | While running |
//! |---|---|---|
//! | E1 | a decision is a method of `Model`, `Fork` and `Decide<Undecided>` | |
//! | E2 | `authorize` and `execute` follow `act` | |
//! | E3, INV-008 | plan, READ, SUCCESS (or degraded tools), OBSERVED, then the belief update, which cites them by itself; decisions are no methods of `Verify` | what an answer bears out, the agent judges; a proof that a later loop has overtaken |
//! | E4, INV-007 | a permit is there, its scope lists tool and operation and one that writes, and it is spent once | expiry, revocation, constraints on resources, an `operation` among the parameters, a permit of another episode |
//! | E5, INV-009 | two or three options, a gap, a next step | |
//! | E6, INV-011 | as many results as directives; each task settles once | a result of another episode, or of a task that somebody else runs; a late one is a warning |
//! | E7 | `SafeMode` has `believe`, `alert`, `halt` and `clear` alone | |
//! | INV-001 | the envelope is a literal; texts are not empty | |
//! | INV-002, INV-003, INV-010 | bounds of `act`, `verify_first` and `defer` | with `decide` and `propose`, all of it |
//! | INV-004 | `seal` asks for live evidence where a claim needs it; a `Hypothesis` is good for decisions other than ACT | how old the evidence is, a warning |
//! | INV-005 | | budgets: the step is refused, `close` too, and the episode is in the error |
//! | INV-006 | veto, feasibility and tradeoff in this order | whether an option survives |
//! | INV-012 | the level follows from the axes | `DynEnvelope` and `propose` refuse a level that is stated too low; in a log it is a warning |
//!
//! That a tool is `Read`, and what a check's answer bears out, is the program's word; so is an envelope's.
//!
//! Rust drops what nobody uses: an episode that is abandoned is a warning of the compiler
//! (`unused_must_use`), and its drop policy ends its log. The caller that holds a
//! [`Layer1`](crate::Layer1) may give orders in the name of layer 1: the types cannot tell who deserves it. Each order is
//! good for one use.
