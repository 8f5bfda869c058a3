//! A valid log can be resumed at every point; an invalid log cannot be resumed.

use omen::*;

use super::log::{Hands, episodes, examples, setup};

#[test]
fn every_prefix_of_a_legal_log_resumes_and_no_illegal_line_does() {
    let (mut prefixes, mut refusals) = (0, 0);
    for (path, log) in examples() {
        for (id, lines) in episodes(log) {
            let mut legal: Vec<&str> = Vec::new();
            for line in &lines {
                let mut longer = legal.clone();
                longer.push(&line.text);
                let resumed = AnyEpisode::resume(setup(&id, Hands::new()), longer.iter().copied());
                match (resumed, line.errors.first()) {
                    (Ok(episode), None) => {
                        prefixes += 1;
                        assert!(!episode.nodes().is_empty());
                        legal = longer;
                    }
                    (Err(error), Some(code)) => {
                        refusals += 1;
                        assert_eq!(error.line, longer.len(), "{path}: {error}");
                        assert_eq!(error.why.code(), Some(*code), "{path}: {error}");
                    }
                    (Ok(_), Some(code)) => panic!("{path}: a line that breaks {code} resumes: {}", line.text),
                    (Err(error), None) => panic!("{path}: {error}"),
                }
            }
        }
    }
    println!("resumed {prefixes} prefixes of legal logs; {refusals} illegal lines did not resume");
    assert!(prefixes > 400 && refusals > 100, "{prefixes} {refusals}");
}

#[test]
fn an_open_task_is_settled_and_a_token_is_claimed_after_a_restart() {
    tool!(Set = "config.set", Write);
    scope!(Change: tools [Set], operations [Modify]);
    let clock = Hands::new();
    let env = super::log::envelope();
    let acting = super::refusals::acting(setup("corr_a", clock.clone()), &env);
    let (episode, [first, second]) = acting.authorize::<Change, 2>(TokenSpec::new(60, text!("two changes"))).unwrap();
    let token = first.token_id().clone();
    drop(second);
    let write = |permit| Directive::new(Set, op::Modify, fields!({ "key": "a" })).with(permit);
    let (episode, [task]) = episode.execute([write(first)]).unwrap();
    let log = episode.lines().to_vec();
    // The program dies here.
    drop((episode, task));

    let resumed = AnyEpisode::resume(setup("corr_a", clock), log.iter().map(String::as_str)).unwrap();
    let AnyEpisode::ExecuteOpen(episode) = resumed else { panic!("{resumed:?}") };
    let tasks = episode.tasks();
    assert_eq!(tasks.len(), 1);
    assert_eq!(tasks[0].method().tool_id.as_deref(), Some("config.set"));
    let again = episode.tasks();
    let refused = episode
        .settle(tasks.into_iter().chain(again).map(|task| task.success(true)))
        .expect_err("one task cannot be settled twice");
    assert_eq!(refused.why.code(), Some(Code::E6));
    let mut given = refused.given;
    given.truncate(1);
    let episode = refused.episode.settle(given).unwrap().all_settled().unwrap();
    let [permit] = episode.claim::<Change, 1>(&token).unwrap();
    assert!(episode.claim::<Change, 2>(&token).is_err(), "one use is left");
    let (episode, [task]) = episode.execute([write(permit)]).unwrap();
    let episode = episode.settle([task.success(true)]).unwrap();
    let _ = episode.review(Belief::new("a", "b", 1)).close().unwrap();
}

#[test]
fn an_observation_makes_nothing_surer_by_a_restart() {
    let inferred = || {
        let mut mcp = super::log::envelope().mcp().clone();
        mcp.epistemics.status = omen::packet::EpistemicStatus::Inferred;
        DynEnvelope::new(mcp).unwrap()
    };
    let start = || Setup::new("corr_a".parse().unwrap(), &inferred(), Hands::new()).claims(&Claims::new());
    let seen = Observation::tool_output(Observed, "config.get", fields!({ "pool": 20 }));
    let episode = start().start().unwrap().observe(seen);
    let log = episode.lines().to_vec();
    let straight = episode.believe(Belief::new("db", "pool", 20));
    let resumed = AnyEpisode::resume(start(), log.iter().map(String::as_str)).unwrap();
    let AnyEpisode::Sense(resumed) = resumed else { panic!("{resumed:?}") };
    let resumed = resumed.believe(Belief::new("db", "pool", 20));
    assert_eq!(straight.lines().last(), resumed.lines().last());
    assert!(straight.lines()[1].contains("INFERRED"));
}

#[test]
fn the_envelope_of_a_proposal_holds_as_it_does_after_a_restart() {
    let mut mcp = super::log::envelope().mcp().clone();
    mcp.intent.summary = "another matter".parse().unwrap();
    let payload = json!({ "update_type": "new_belief", "belief_changes":
        [{ "domain": "d", "key": "k", "new_value": 1, "prior_value": null }] });
    let proposal = json!({ "packet_type": "BeliefUpdatePacket", "payload": payload, "mcp": mcp }).to_string();
    let seen = Observation::tool_output(Observed, "config.get", fields!({ "pool": 20 }));
    let moved = setup("corr_a", Hands::new()).start().unwrap().observe(seen).into_any().propose(&proposal).unwrap();
    let log = moved.episode.lines().to_vec();
    let resumed = AnyEpisode::resume(setup("corr_a", Hands::new()), log.iter().map(String::as_str)).unwrap();
    let next = |episode| {
        let AnyEpisode::Model(episode) = episode else { panic!("{episode:?}") };
        episode.believe(Belief::new("db", "pool", 20)).lines().last().cloned()
    };
    assert_eq!(next(moved.episode), next(resumed));
}

#[test]
fn a_program_that_starts_again_needs_no_id_of_its_own() {
    tool!(Set = "config.set", Write);
    tool!(Get = "config.get", Read);
    scope!(Change: tools [Set], operations [Modify]);
    scope!(Wider: tools [Set, Get], operations [Modify]);
    let clock = Hands::new();
    let acting = super::refusals::acting(setup("corr_a", clock.clone()), &super::log::envelope());
    let (episode, permits) = acting.authorize::<Change, 1>(TokenSpec::new(60, text!("one"))).unwrap();
    let (episode, [second, third]) = episode.authorize::<Change, 2>(TokenSpec::new(600, text!("two more"))).unwrap();
    let later = second.token_id().clone();
    let write = |permit| Directive::new(Set, op::Modify, fields!({ "key": "a" })).with(permit);
    let [first] = permits;
    let before = first.token_id().clone();
    let ids = |tokens: Vec<LiveToken>| tokens.into_iter().map(|token| token.token_id).collect::<Vec<_>>();
    assert_eq!(ids(episode.live_tokens()), [before.clone(), later.clone()]);
    let (episode, [task]) = episode.execute([write(first)]).unwrap();
    drop((second, third, task));
    let log = episode.into_any().lines().to_vec();

    let resumed = AnyEpisode::resume(setup("corr_a", clock.clone()), log.iter().map(String::as_str)).unwrap();
    // The first token is used up.
    let [token] = <[LiveToken; 1]>::try_from(resumed.live_tokens()).unwrap();
    assert_eq!((&token.token_id, token.uses_left), (&later, 2));
    assert_eq!(
        (token.tools.as_slice(), token.operations.as_slice()),
        (&["config.set".to_owned()][..], &[OperationType::Modify][..])
    );
    assert_eq!(token.expiry, clock.now().plus_seconds(600));
    assert!(token.covers::<Change>() && !token.covers::<Wider>());
    let refused = resumed.claim_any::<Wider, 1>().unwrap_err();
    assert_eq!(refused.code(), Some(Code::E4));
    assert!(refused.to_string().contains(later.as_str()), "{refused}");
    assert!(resumed.claim_any::<Change, 3>().is_err(), "two uses are left");
    let named = |tool: &str, uses| NamedScope::new([tool], [OperationType::Modify], uses);
    assert_eq!(resumed.claim_any_named(&named("config.set", 2)).unwrap().len(), 2);
    assert!(resumed.claim_named(&later, &named("config.set", 2)).unwrap().iter().all(|it| *it.token_id() == later));
    for scope in [named("config.get", 1), named("config.set", 3)] {
        assert_eq!(resumed.claim_any_named(&scope).unwrap_err().code(), Some(Code::E4));
        assert_eq!(resumed.claim_named(&later, &scope).unwrap_err().code(), Some(Code::E4));
    }
    let [permit] = resumed.claim_any::<Change, 1>().unwrap();
    assert_eq!(*permit.token_id(), later);
    let results: Vec<_> = resumed.tasks().into_iter().map(|task| task.success(true)).collect();
    assert_eq!(results.len(), 1);
    let AnyEpisode::ExecuteOpen(episode) = resumed else { panic!("{resumed:?}") };
    let episode = episode.settle(results).unwrap().all_settled().unwrap();
    assert!(episode.claim_any::<Change, 2>().is_ok());
    let (episode, [task]) = episode.execute([write(permit)]).unwrap();
    let episode = episode.settle([task.success(true)]).unwrap();
    assert_eq!(episode.live_tokens().first().map(|token| token.uses_left), Some(1));
    let episode = episode.alert(Alert::warning(AlertType::Drift, text!("enough")).revoking([later]));
    assert!(episode.live_tokens().is_empty(), "the token is revoked");
    assert!(episode.claim_any::<Change, 1>().is_err());
    assert!(episode.into_any().tasks().is_empty());
}

#[test]
fn a_token_that_has_expired_is_not_live() {
    tool!(Set = "config.set", Write);
    scope!(Change: tools [Set], operations [Modify]);
    let clock = Hands::new();
    let acting = super::refusals::acting(setup("corr_a", clock.clone()), &super::log::envelope());
    let (episode, [permit]) = acting.authorize::<Change, 1>(TokenSpec::new(60, text!("one"))).unwrap();
    drop(permit);
    clock.pass(59);
    assert_eq!(episode.live_tokens().len(), 1);
    clock.pass(1);
    assert!(episode.live_tokens().is_empty());
    let refused = episode.claim_any::<Change, 1>().unwrap_err();
    assert!(refused.to_string().contains("live tokens: none"), "{refused}");
}
