//! An agent that calls a tool that fails, and then another one.

use super::*;

tool!(Primary = "status.primary", Read);
tool!(Mirror = "status.mirror", Read);

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::low(
        Intent::new(text!("find out whether the shop is up"), text!("shop")),
        Done::when(text!("the status is known"), ["status is a word"]),
        Evidence::user_observation(text!("chat/12"), now.into()),
    )
    .seal();
    let episode = Setup::new("corr_recovers".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::user_input(Observed, fields!({ "ask": "is the shop up?" })))
        .believe(Belief::new("shop", "status", ()))
        .act(ruling("ask")?.to_act(), &envelope)?;
    let ask = Directive::bare(Primary, op::Read).ready();
    // The failure is in the log, and the episode continues.
    let (episode, status) = match episode.execute_with(ask, |_task| Err::<&str, _>("connection refused")) {
        Ok(done) => done,
        Err(ExecuteError::Failed(failed)) => {
            failed.episode.execute_with(Directive::bare(Mirror, op::Read).ready(), |_task| Ok::<_, String>("up"))?
        }
        Err(refused) => return Err(refused.into()),
    };
    Ok(episode.review(Belief::revision("shop", "status", (), status)).close()?.lines().to_vec())
}
