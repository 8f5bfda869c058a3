//! `omen hook run` as the hook of the agents themselves, each with a stub of its model. `.ci/install agents` installs them.
//!
//! `OMEN_BLESS=1` records the events that they send in `omen-hook/tests/fixtures`, whose tests read them.

mod http;
mod model;
mod recorded;
mod settings;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use omen_testkit::Need;

use self::model::{ModelCall, StubModel};
use self::settings::{Agent, CLAUDE, CODEX, COPILOT, GEMINI, OPENCODE, TIMEOUT};
use super::*;

/// Folders of one test: an agent's project and home, and its gate beside them.
struct Site {
    agent: Agent,
    folder: TempDir,
}

impl Site {
    /// Prepares the folders. Commands may start `touch`; `grant` is what the grant for writing files has besides.
    fn new(agent: Agent, grant: &str) -> Self {
        let site = Self { agent, folder: folder(&[]) };
        for name in ["gate", "home", "project"] {
            fs::create_dir(site.path(name)).unwrap();
        }
        let name = site.agent.name;
        let (shell, write_tool, path) = site.agent.tools();
        let mut config =
            format!("[servers.{name}]\n[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\nsync = false\n");
        let commands = "\"/command\" = { command = { program = ['touch'] } }".to_owned();
        let files = format!("\"{path}\" = {{ under = '{}' }}", site.path("project").display());
        for (tool, rule, grant) in [(shell, commands, GRANTED), (write_tool, files, grant)] {
            let pin = pin(&tool_of(name, tool)).unwrap();
            let of_tool = format!("server = '{name}'\ntool = '{tool}'\npermissions = ['EXECUTE']");
            write!(
                config,
                "[[allow]]\n{of_tool}\npin = '{pin}'\nwhere = {{ {rule} }}\n[[grants]]\n{of_tool}\n{grant}\n"
            )
            .unwrap();
        }
        write(&site.path("gate"), "gate.toml", config.as_bytes());
        assert_eq!(run(omen(["audit", "new-key", "audit.key"]).current_dir(site.path("gate"))).code, 0);
        site
    }

    /// Version of the agent that its dialect was compared with.
    fn seen(&self) -> String {
        Dialect::from_agent(self.agent.name).unwrap().seen
    }

    /// Folder of the agents, if they are installed, after a check of the version.
    fn agents(&self) -> Option<PathBuf> {
        let (agents, seen) = (Need::Agents.path()?, self.seen());
        let version =
            Process::new(self.agent.program(&agents)).arg("--version").env("HOME", self.path("home")).output();
        let version = String::from_utf8(version.unwrap().stdout).unwrap();
        assert!(version.contains(&seen), "the dialect is that of {} {seen}, and this is {version}", self.agent.name);
        Some(agents)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the agent to its end. `faults` are cases of a shell script with what the hook does instead, by events.
    fn run(&self, agents: &Path, calls: Vec<ModelCall>, faults: &str, timeout: u64) -> StubModel {
        let (hook, config) = (self.path("gate/hook.sh"), self.path("gate/gate.toml"));
        let script = format!(
            "#!/bin/sh\nevent=$(cat)\nprintf '%s\\n' \"$event\" >> {events}\n\
             omen() {{ printf '%s\\n' \"$event\" | {omen} \"$@\"; }}\n\
             case $event in\n{faults}esac\nomen \"$@\"\n",
            events = self.path("gate/events.jsonl").display(),
            omen = env!("CARGO_BIN_EXE_omen"),
        );
        fs::write(&hook, script).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        let model = StubModel::start(calls);
        let (home, root, timeout) = (self.path("home"), self.path("project"), timeout.to_string());
        let command = self.agent.command(agents, &home, &model.url);
        let [config, root] = [&config, &root].map(|path| path.to_str().unwrap());
        self.agent.install(&home, &hook, &["--config", config, "--root", root, "--timeout", &timeout]);
        self.finish(command);
        model
    }

    /// Runs the agent to its end.
    fn finish(&self, mut command: Process) {
        let output = fs::File::create(self.path("output")).unwrap();
        command.current_dir(self.path("project")).stdin(Stdio::null());
        let mut running = command.stdout(output.try_clone().unwrap()).stderr(output).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(240);
        let status = loop {
            match running.try_wait().unwrap() {
                Some(status) => break Some(status),
                None if Instant::now() > until => break None,
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        if status.is_none() {
            running.kill().unwrap();
            let _ = running.wait();
        }
        assert!(status.is_some_and(|status| status.success()), "{status:?}: {}", self.text("output"));
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Confirms the call that waits, while the agent runs. Before that, Claude Code has its settings changed.
    fn confirm(&self, is_over: impl Fn() -> bool) {
        let gate = self.path("gate");
        let until = Instant::now() + Duration::from_secs(180);
        let wait = |what: &str| {
            assert!(
                Instant::now() < until && !is_over(),
                "{what}: {}\n{}",
                self.text("output"),
                self.text("gate/events.jsonl")
            );
            std::thread::sleep(Duration::from_millis(100));
        };
        let question: Value = loop {
            let listed = run(omen(["gate", "confirm", "--list", "--json"]).current_dir(&gate)).stdout;
            match listed.lines().next() {
                Some(line) => break serde_json::from_str(line).unwrap(),
                None => wait("no call waits"),
            }
        };
        if self.agent.name == CLAUDE.name {
            fs::create_dir_all(self.path("project/.claude")).unwrap();
            write(&self.path("project/.claude"), "settings.local.json", b"{\"disableAllHooks\":true}");
            while !self.text("gate/events.jsonl").contains("\"ConfigChange\"") {
                wait("no event about the settings");
            }
        }
        let answer = json!({"type": "answer", "id": question["id"], "hash": question["hash"], "confirm": true});
        let confirmed = run(omen(["gate", "confirm", "--json"]).current_dir(&gate).write_stdin(format!("{answer}\n")));
        assert_eq!(confirmed.code, 0, "{}", confirmed.stderr);
    }
}

/// Member of a grant that needs no confirmation.
const GRANTED: &str = "pre_granted = true";

/// Commands of the session: one is allowed, one is denied, and one fails.
const COMMANDS: [&str; 3] = ["touch allowed", "mkdir denied", "touch missing/file"];

/// Checks the log of the session: the commands, others that are denied, and a file that is written.
fn is_logged(site: &Site, calls: usize) {
    let all = entries(&site.path("gate"));
    let of = |kind: &'static str| all.iter().filter(move |(found, _)| found == kind).map(|(_, data)| data);
    assert_eq!((of("intent").count(), of("bypass").count()), (3, 0), "{all:?}");
    assert_eq!(of("decision").filter(|data| data["outcome"] == "denied").count(), calls - 3, "{all:?}");
    let outcomes: Vec<_> = of("outcome").map(|data| (data["ran"].clone(), data["class"].clone())).collect();
    // Two agents do not say how a command ended.
    let failed = if [CODEX.name, GEMINI.name].contains(&site.agent.name) { Value::Null } else { json!("tool") };
    assert_eq!(outcomes, [Value::Null, failed, Value::Null].map(|class| (json!("yes"), class)), "{all:?}");
    let verified = verify(&site.path("gate"));
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
}

/// Runs the session with the agent itself, which waits for a confirmation before it writes the file.
fn is_governed(agent: Agent) {
    let site = Site::new(agent, "");
    let Some(agents) = site.agents() else { return };
    let project = site.path("project");
    let mut calls = COMMANDS.map(|command| site.agent.runs(command)).to_vec();
    calls.extend(site.agent.others(&project.join("allowed")));
    calls.push(site.agent.writes(&project.join("confirmed")));
    let model = std::thread::scope(|scope| {
        let running = scope.spawn(|| site.run(&agents, calls, "", 60));
        site.confirm(|| running.is_finished());
        running.join().unwrap()
    });
    let made = ["allowed", "denied", "confirmed"].map(|name| project.join(name).exists());
    let events = site.text("gate/events.jsonl");
    assert_eq!(made, [true, false, true], "{}\n{events}", site.text("output"));
    assert!(model.was_shown("PG-3") && model.was_shown("run only `touch`"), "the model does not see the reason");
    is_logged(&site, events.matches(&format!("\"{}\"", site.agent.before())).count());
    recorded::compare(&site);
}

/// What a hook does instead of answering, as the documentation names it, and as a script. It sleeps for longer than [`TIMEOUT`].
const FAULTS: [(&str, &str, &str); 7] = [
    ("is killed", "killed", "kill -9 $$"),
    ("exceeds its timeout", "late", "exec sleep 13"),
    ("exits with 1", "exit-1", "exit 1"),
    ("exits with 2 and no reason", "silent-2", "exit 2"),
    ("prints text instead of an answer", "text", "echo text; exit 0"),
    ("prints a line of text before a denial", "line", "echo text"),
    ("prints a denial that is cut short", "cut", "omen \"$@\" | head -c 30; exit 0"),
];

/// Has an agent make calls whose hook breaks. What runs then is as documented, and a finding each.
fn breaks_as_documented(agent: Agent) {
    let site = Site::new(agent, GRANTED);
    let Some(agents) = site.agents() else { return };
    let (project, gate) = (site.path("project"), site.path("gate"));
    let calls = FAULTS.map(|(_, name, _)| site.agent.runs(&format!("mkdir {name}"))).to_vec();
    let faults: String = FAULTS
        .map(|(_, name, script)| format!("*'\"{}\"'*'mkdir {name}\"'*) {script} ;;\n", site.agent.before()))
        .concat();
    let _model = site.run(&agents, calls, &faults, TIMEOUT);

    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/hooks.md")).unwrap();
    let row = |first: &str| {
        let line = page.lines().find(|line| line.starts_with(&format!("| {first} |"))).unwrap();
        line.split('|').map(str::trim).map(str::to_owned).collect::<Vec<_>>()
    };
    let title = Dialect::from_agent(site.agent.name).unwrap().title.replace("GitHub ", "");
    let column = row("a hook that …").iter().position(|cell| *cell == title).unwrap();
    let documented = FAULTS.map(|(what, ..)| format!("{what}: {}", row(what)[column]));
    let has_run = |name: &str| if project.join(name).exists() { "the call runs" } else { "denied" };
    let seen = FAULTS.map(|(what, name, _)| format!("{what}: {}", has_run(name)));
    assert_eq!(seen, documented, "{}\n{}", site.text("output"), site.text("gate/events.jsonl"));

    let ran = seen.iter().filter(|row| row.ends_with("runs")).count();
    let found = kinds(&gate).iter().filter(|kind| *kind == "bypass").count();
    assert_eq!(found, ran, "{:?}\n{}", entries(&gate), site.text("gate/events.jsonl"));
    assert_eq!(verify(&gate).code, i32::from(ran > 0));
}

#[test]
fn claude_code_is_governed() {
    is_governed(CLAUDE);
}

#[test]
fn codex_is_governed() {
    is_governed(CODEX);
}

#[test]
fn gemini_cli_is_governed() {
    is_governed(GEMINI);
}

#[test]
fn copilot_cli_is_governed() {
    is_governed(COPILOT);
}

#[test]
fn opencode_is_governed() {
    is_governed(OPENCODE);
}

#[test]
fn claude_code_breaks_as_documented() {
    breaks_as_documented(CLAUDE);
}

#[test]
fn codex_breaks_as_documented() {
    breaks_as_documented(CODEX);
}

#[test]
fn gemini_cli_breaks_as_documented() {
    breaks_as_documented(GEMINI);
}

#[test]
fn copilot_cli_breaks_as_documented() {
    breaks_as_documented(COPILOT);
}

#[test]
fn opencode_breaks_as_documented() {
    breaks_as_documented(OPENCODE);
}
