//! Claude Code with hooks over HTTP: the resident answers them all, and records episodes.

use super::*;
use crate::hook::fake_agent::Resident;
use crate::hook::http::endpoint;

#[test]
fn claude_code_is_governed_over_http() {
    let site = Site::new(CLAUDE, GRANTED);
    let Some(agents) = site.agents() else { return };
    let (gate, home, project) = (site.path("gate"), site.path("home"), site.path("project"));
    let _resident = Resident::start(&gate, &["--http", "--episode", "observe"], ("OMEN_TEST_NOTHING", ""));
    let (address, token) = endpoint(&gate);
    let handler = json!({
        "type": "http", "url": format!("http://{address}/claude-code?root={}", project.display()), "timeout": 60,
        "headers": {"Authorization": format!("Bearer {token}")}, "onFailure": "block",
    });
    let dialect = Dialect::from_agent(CLAUDE.name).unwrap();
    let events = dialect.governed_events().map(|(name, _)| (name.to_owned(), json!([{"hooks": [handler]}])));
    let settings = json!({"hooks": events.collect::<serde_json::Map<_, _>>()});
    fs::create_dir(home.join(".claude")).unwrap();
    write(&home.join(".claude"), "settings.json", settings.to_string().as_bytes());

    let mut calls = COMMANDS.map(|command| site.agent.runs(command)).to_vec();
    calls.extend(site.agent.others(&project.join("allowed")));
    calls.push(site.agent.writes(&project.join("written")));
    // It sends no event about the edit of a file that it was not allowed to read.
    let sent = calls.len() - 1;
    let model = StubModel::start(calls);
    site.finish(site.agent.command(&agents, &home, &model.url));
    let made = ["allowed", "denied", "written"].map(|name| project.join(name).exists());
    assert_eq!(made, [true, false, true], "{}\n{:?}", site.text("output"), entries(&gate));
    assert!(model.was_shown("PG-3") && model.was_shown("run only `touch`"), "the model does not see the reason");
    is_logged(&site, sent);
    // The end of the session has come, too.
    assert!(kinds(&gate).contains(&"turn".to_owned()), "{:?}", entries(&gate));
    let checked = run(omen(["check", "audit.episodes"]).current_dir(&gate));
    assert_eq!(checked.code, 0, "{}", checked.stdout);
}
