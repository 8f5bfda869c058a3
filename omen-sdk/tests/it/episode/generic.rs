//! Code that is generic over the state, and loops without a special first step.

use omen::validator::ValidatorOptions as Judging;
use omen::*;

use super::log::{Hands, envelope, setup};
use super::refusals::ruling;

tool!(LookUp = "ticket.get", Read);

type Plain = Envelope<LowStakes, Par, ToolsOk>;

/// Accepts every state that takes an observation and leads to `Sense`.
fn heard<S: CanObserve<Observed = Sense>>(episode: Episode<S>, ticket: u32) -> Episode<Model> {
    let seen = Observation::user_input(Observed, fields!({ "ticket": ticket }));
    episode.observe(seen).believe(Belief::new("tickets", "next", ticket))
}

/// Takes two steps, whose states both follow from the first state.
fn looked<S: CanObserve<Observed: CanBelieve>>(
    episode: Episode<S>,
    seen: Observation<Observed>,
) -> Episode<<S::Observed as CanBelieve>::Believed> {
    episode.observe(seen).believe(Belief::new("tickets", "seen", true))
}

fn acts<S: CanAct<Acted = Decide<Act>>>(episode: Episode<S>, envelope: &Plain) -> Result<Episode<Execute>, Halt> {
    let look = Directive::bare(LookUp, op::Read).ready();
    Ok(episode.act(ruling().to_act(), envelope)?.execute_with(look, |_task| Ok::<_, String>("found"))?.0)
}

fn dropped<S: CanCancel<Cancelled = Decide<Stop>>>(episode: Episode<S>, envelope: &Plain) -> Episode<Review> {
    episode.cancel(ruling(), envelope).believe(Belief::new("tickets", "open", 0))
}

fn closed<S: CanClose>(episode: Episode<S>) -> Result<Closed, Refused<S>> {
    episode.close()
}

/// Sends one directive that reads, from any state that may send one.
fn sent<S: CanExecute<ReadOnly>>(episode: Episode<S>) -> Result<(Episode<S::Executed<1>>, Pending), Halt> {
    let (episode, [task]) = episode.execute([Directive::bare(LookUp, op::Read).ready()])?;
    Ok((episode, task))
}

fn planned<S: CanVerify>(episode: Episode<S>, assumption: Text) -> Result<(Episode<S::Planned>, Assumption), Halt> {
    let (plan, assumption) = Plan::one(Target::tool(assumption, text!("the ticket is open"), LookUp));
    Ok((episode.verify(plan)?, assumption))
}

#[track_caller]
fn is_clean(lines: &[String]) {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(Judging::default());
    validator.feed(lines.join("\n").as_bytes(), &mut findings);
    let Ok(summary) = validator.finish(&mut findings);
    assert!(findings.is_empty(), "{findings:#?}");
    assert_eq!((summary.accepted, summary.rejected), (lines.len() as u64, 0));
}

#[test]
fn a_helper_is_called_from_each_state_that_has_its_move() {
    let env = envelope();
    // The same helper accepts `Idle`, then `Review`.
    let episode = heard(setup("corr_a", Hands::new()).start().unwrap(), 1);
    let episode = acts(episode, &env).unwrap().review(Belief::new("tickets", "one", "done"));
    let episode = heard(episode, 2);
    // `Fork` is not `Model`.
    let fork = acts(episode, &env).unwrap().believe(Belief::new("tickets", "two", "done"));
    let fork = acts(fork, &env).unwrap().believe(Belief::new("tickets", "two", "done again"));
    let seen = Observation::tool_output(Observed, "ticket.get", fields!({ "open": 0 }));
    let model: Episode<Model> = looked(fork, seen);
    let episode = closed(dropped(model, &env)).unwrap();
    is_clean(episode.lines());
}

#[test]
fn a_helper_writes_what_the_states_own_method_writes() {
    let env = envelope();
    let start = || setup("corr_a", Hands::new()).start().unwrap();
    let own = start()
        .observe(Observation::user_input(Observed, fields!({ "ticket": 1 })))
        .believe(Belief::new("tickets", "next", 1))
        .cancel(ruling(), &env)
        .believe(Belief::new("tickets", "open", 0))
        .close()
        .unwrap();
    let generic = closed(dropped(heard(start(), 1), &env)).unwrap();
    assert_eq!(own.lines(), generic.lines());
}

#[test]
fn a_helper_sends_directives_and_plans_from_each_state_that_may() {
    let env = envelope();
    let episode = heard(setup("corr_a", Hands::new()).start().unwrap(), 1);
    // A decision to act, then the states after it with none, one and two open directives.
    let (one_open, first) = sent(episode.act(ruling().to_act(), &env).unwrap()).unwrap();
    let (two_open, second) = sent(one_open).unwrap();
    let (three_open, third) = sent(two_open).unwrap();
    let tasks = [first, second, third].map(|task| task.success("found").used(0, 0));
    let settled = three_open.settle(tasks).unwrap().all_settled().unwrap();
    let (open, task) = sent(settled).unwrap();
    let episode =
        open.settle([task.success("found").used(0, 0)]).unwrap().remodel(Belief::new("tickets", "one", "done"));
    // A verification loop, before and while a directive is open.
    let verifying = episode.verify_first(ruling(), &env).unwrap();
    let (planned_once, _) = planned(verifying, text!("the ticket is open")).unwrap();
    let (open, task) = sent(planned_once).unwrap();
    let (open, _) = planned(open, text!("nobody has answered")).unwrap();
    let checked = open.settle([task.success("open")]).unwrap();
    let seen = Observation::tool_output(Observed, "ticket.get", fields!({ "open": true }));
    let (model, _proof) = checked.observe(seen).believe(Belief::new("tickets", "open", true));
    is_clean(closed(dropped(model, &env)).unwrap().lines());
}

#[test]
fn a_closure_need_not_name_the_state() {
    let env = envelope();
    let start = |id| setup(id, Hands::new()).start().unwrap();
    let seen = || Observation::user_input(Observed, fields!({ "ticket": 1 }));
    let decide_to_stop = |episode: Episode<_>| episode.cancel(ruling(), &env);
    let close = |episode: Episode<_>| episode.close();
    let model = start("corr_b").observe(seen()).believe(Belief::new("tickets", "next", 1));
    let closed = close(decide_to_stop(model).believe(Belief::new("tickets", "open", 0))).unwrap();
    is_clean(closed.lines());
    let defer = |episode: Episode<_>| episode.defer(ruling(), &env);
    let act = |episode: Episode<_>| episode.act(ruling().to_act(), &env);
    let model = start("corr_c").observe(seen()).believe(Belief::new("tickets", "next", 1));
    let fork = acts(model, &env).unwrap().believe(Belief::new("tickets", "one", "done"));
    let acting: Episode<Decide<Act>> = act(fork).unwrap();
    assert_eq!(acting.packets(), 7);
    let model = start("corr_a").observe(seen()).believe(Belief::new("tickets", "next", 1));
    let _: Episode<Decide<Stop>> = defer(model);
}

/// The loop of the guide.
fn all(mut episode: Episode<Model>, tickets: &[u32], envelope: &Plain) -> Result<Closed, Halt> {
    for ticket in tickets {
        let look = Directive::new(LookUp, op::Read, fields!({ "id": *ticket })).ready();
        let acting = episode.act(ruling().to_act(), envelope)?;
        let (done, answer) = acting.execute_with(look, |_task| Ok::<_, String>(ticket * 2))?;
        episode = done.remodel(Belief::new("tickets", ticket.to_string(), answer));
    }
    Ok(dropped(episode, envelope).close()?)
}

#[test]
fn a_loop_over_any_number_of_tickets_has_no_first_step_of_its_own() {
    for count in [0, 1, 3] {
        let episode = heard(setup("corr_a", Hands::new()).start().unwrap(), count);
        let tickets: Vec<u32> = (0..count).collect();
        let closed = all(episode, &tickets, &envelope()).unwrap();
        // Two packets before the loop, four for each ticket, two after it.
        assert_eq!(closed.lines().len(), 4 + 4 * tickets.len());
        is_clean(closed.lines());
    }
}
