//! An agent that is killed while a tool runs, and resumes from its log.

use super::*;

tool!(ReportGet = "report.get", Read);

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::low(
        Intent::new(text!("fetch the report"), text!("report 7")),
        Done::when(text!("the report is there"), ["report.pages > 0"]),
        Evidence::user_observation(text!("chat/16"), now.into()),
    )
    .seal();
    let get = Directive::new(ReportGet, op::Read, fields!({ "id": 7 })).ready();
    // A dropped episode is left as it is, to be resumed from the log.
    let setup = || Ok::<_, Invalid>(Setup::new("corr_resumes".parse()?, &envelope, move || now).on_drop(OnDrop::Leave));
    let (episode, _) = setup()?
        .start()?
        .observe(Observation::user_input(Observed, fields!({ "ask": "fetch report 7" })))
        .believe(Belief::new("report", "pages", ()))
        .act(ruling("fetch")?.to_act(), &envelope)?
        .execute([get])?;
    let mut log = episode.lines().to_vec();
    drop(episode);

    let again = setup()?.ids(Numbered::from("resumes", 100));
    let resumed = AnyEpisode::resume(again, log.iter().map(String::as_str))?;
    let AnyEpisode::ExecuteOpen(episode) = resumed else { return Err("no directive is open".into()) };
    let results = episode.tasks().into_iter().map(|task| task.success(12));
    let episode = episode.settle(results)?.all_settled()?;
    let closed = episode.review(Belief::revision("report", "pages", (), 12)).close()?;
    log.extend_from_slice(closed.lines());
    Ok(log)
}
