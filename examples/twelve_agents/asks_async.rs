//! An agent that waits for its tools.

use super::*;

tool!(Search = "web.search", Read);

async fn search(task: &Running) -> Result<usize, String> {
    tokio::task::yield_now().await;
    Ok(task.method().tool_params.iter().count())
}

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::low(
        Intent::new(text!("find out what is said of us"), text!("the web")),
        Done::when(text!("the hits are counted"), ["hits is a number"]),
        Evidence::user_observation(text!("chat/15"), now.into()),
    )
    .seal();
    let episode = Setup::new("corr_asks-async".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::user_input(Observed, fields!({ "ask": "what is said of us?" })))
        .believe(Belief::new("web", "hits", ()))
        .act(ruling("search")?.to_act(), &envelope)?;
    let orders =
        ["omen", "omen sdk"].map(|query| Directive::new(Search, op::Read, fields!({ "query": query })).ready());
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let (episode, hits) = runtime.block_on(episode.execute_each_async(orders, search))?;
    let hits: usize = hits.into_iter().flatten().sum();
    Ok(episode.review(Belief::revision("web", "hits", (), hits)).close()?.lines().to_vec())
}
