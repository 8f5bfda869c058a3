//! Each packet of an agent is in the stream before the agent's next step.

use omen::Instant;
use omen::episode::{Claims, StartError};
use omen::facts::{
    Budgets, Epistemics, Quality, Realtime, Risk, Routing, Stakes, adversariality, impact, irreversibility, uncertainty,
};
use omen::log::Nats;
use omen::packet::TaskClass;
use omen::prelude::*;
use tokio::task::block_in_place;

use crate::messages::Worker;
use crate::process::options;
use crate::server::{Nats as Server, setup as streams};
use crate::stream::{end, found, judged};

/// Creates the set-up of a separate process, which shares no claims of episodes.
fn setup(id: &str, log: &Nats) -> Setup {
    let envelope = OpenEnvelope {
        intent: Intent::new(text!("find out how many requests fail"), text!("service web")),
        stakes: Stakes {
            impact: impact::Low,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Benign,
        },
        quality: Quality::par(text!("the error rate of the last five minutes is known"), ["error_rate is a number"]),
        budgets: Budgets { tokens: 2_000, tool_calls: 3, seconds: 120, risk: Risk::new(text!("none"), 0) },
        epistemics: Epistemics::new(Observed, Realtime, unit!(0.95), text!("metrics are sampled every ten seconds")),
        evidence: Evidence::user_observation(text!("chat/4711"), "2026-03-01T09:59:58Z".parse().unwrap()),
        routing: Routing { task_class: TaskClass::Lookup, tools: ToolsOk },
    }
    .seal();
    let start: Instant = "2026-03-01T10:00:00Z".parse().unwrap();
    Setup::new(id.parse().unwrap(), &envelope, move || start).claims(&Claims::new()).log(log.clone())
}

fn asked() -> Observation<Observed> {
    Observation::user_input(Observed, fields!({ "ask": "how many requests fail?" }))
}

fn known() -> Belief {
    Belief::new("web", "error_rate", 1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_writes_to_the_stream_and_nobody_else_does() {
    let Some(server) = Server::start() else { return };
    let context = server.context().await;
    let url = server.address().url;
    assert!(block_in_place(|| Nats::connect(&url)).is_err(), "there is no stream");
    streams().packets(&context).await.unwrap();
    block_in_place(|| {
        let log = Nats::connect(&url).unwrap();
        let runtime = tokio::runtime::Handle::current();
        let stored = || runtime.block_on(end(&context));
        let episode = setup("corr_agent", &log).start().unwrap().observe(asked());
        assert_eq!(stored(), 1, "stored before the next step");

        // Another process sees the episode, too, and may resume it.
        let other = Nats::connect(&url).unwrap();
        assert!(matches!(setup("corr_agent", &other).start(), Err(StartError::InLog(_))));
        let AnyEpisode::Sense(resumed) = other.resume(setup("corr_agent", &other)).unwrap().unwrap() else {
            panic!("another state")
        };
        let resumed = resumed.believe(known());
        assert_eq!(stored(), 2);
        // The first handle has lost the episode: its packets are refused, also when it is dropped.
        drop(episode.believe(known()));
        assert_eq!(stored(), 2);
        // Dropping the handle ends the episode, in steps of one packet or several.
        drop(resumed);
        assert!(stored() > 2);
    });
    let worker = Worker::start(&server, options());
    judged(&context).await;
    worker.stop().await;
    assert_eq!(found(&context).await, Vec::<String>::new());
}
