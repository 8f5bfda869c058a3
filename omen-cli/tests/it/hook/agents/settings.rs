//! Settings of each agent: a stub of its model, and the hook as `omen hook install` writes it.

use std::path::{Path, PathBuf};
use std::process::Command;

use omen_hook::{Dialect, EventRole};
use serde_json::json;

use super::model::ModelCall;
use crate::hook::install::{confirm, install, settings};

/// Agent: its package, and the calls that its model makes.
pub(super) struct Agent {
    /// Name of its dialect, and of its folder in `OMEN_AGENTS`.
    pub(super) name: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    /// Tools that run a command and write a file: as the model calls them, and as hooks see them.
    shell: (&'static str, &'static str),
    write: (&'static str, &'static str),
}

/// Seconds for which an agent waits for its hook where nothing else is said.
pub(super) const TIMEOUT: u64 = 10;

pub(super) const CLAUDE: Agent = Agent {
    name: "claude-code",
    program: "claude",
    args: &["-p", "go", "--output-format", "json", "--dangerously-skip-permissions"],
    shell: ("Bash", "Bash"),
    write: ("Write", "Write"),
};

pub(super) const CODEX: Agent = Agent {
    name: "codex",
    program: "codex",
    args: &["exec", "--json", "--skip-git-repo-check", "go"],
    shell: ("exec_command", "Bash"),
    write: ("apply_patch", "apply_patch"),
};

pub(super) const GEMINI: Agent = Agent {
    name: "gemini-cli",
    program: "gemini",
    args: &["-y", "-p", "go"],
    shell: ("run_shell_command", "run_shell_command"),
    write: ("write_file", "write_file"),
};

pub(super) const COPILOT: Agent = Agent {
    name: "copilot-cli",
    program: "copilot",
    args: &["-p", "go", "--allow-all-tools", "--allow-all-paths"],
    shell: ("bash", "Bash"),
    write: ("create", "Write"),
};

pub(super) const OPENCODE: Agent = Agent {
    name: "opencode",
    program: "opencode",
    args: &["run", "go"],
    shell: ("bash", "bash"),
    write: ("write", "write"),
};

impl Agent {
    /// Call of the model that runs a command.
    pub(super) fn runs(&self, command: &str) -> ModelCall {
        let member = if self.name == "codex" { "cmd" } else { "command" };
        let mut args = json!({ member: command });
        if ["copilot-cli", "opencode"].contains(&self.name) {
            args["description"] = json!("A command");
        }
        ModelCall(self.shell.0, args)
    }

    /// Call of the model that writes a file.
    pub(super) fn writes(&self, path: &Path) -> ModelCall {
        let args = match self.name {
            "codex" => json!(format!("*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch", path.display())),
            "copilot-cli" => json!({"path": path, "file_text": "x"}),
            "opencode" => json!({"filePath": path, "content": "x"}),
            _ => json!({"file_path": path, "content": "x"}),
        };
        ModelCall(self.write.0, args)
    }

    /// Calls of tools that no configuration of these tests lists, on a file that is there.
    pub(super) fn others(&self, file: &Path) -> Vec<ModelCall> {
        let (glob, grep) = (json!({"pattern": "*"}), json!({"pattern": "x"}));
        match self.name {
            "claude-code" => vec![
                ModelCall("Read", json!({"file_path": file})),
                ModelCall("Edit", json!({"file_path": file, "old_string": "x", "new_string": "y"})),
            ],
            "codex" => vec![ModelCall("view_image", json!({"path": file}))],
            "gemini-cli" => vec![
                ModelCall("read_file", json!({"file_path": file})),
                ModelCall(
                    "replace",
                    json!({"file_path": file, "instruction": "i", "old_string": "x", "new_string": "y"}),
                ),
                ModelCall("list_directory", json!({"dir_path": file.parent()})),
                ModelCall("glob", glob),
                ModelCall("grep_search", grep),
            ],
            "copilot-cli" => vec![
                ModelCall("view", json!({"path": file})),
                ModelCall("edit", json!({"path": file, "old_str": "x", "new_str": "y"})),
                ModelCall("glob", glob),
                ModelCall("grep", grep),
                ModelCall("task", json!({"description": "d", "prompt": "p", "agent_type": "explore", "name": "n"})),
            ],
            _ => vec![
                ModelCall("read", json!({"filePath": file})),
                ModelCall("edit", json!({"filePath": file, "oldString": "x", "newString": "y"})),
                ModelCall("glob", glob),
                ModelCall("grep", grep),
            ],
        }
    }

    /// Names under which hooks see the tool that runs commands, and the one that writes files with its member for the path.
    pub(super) fn tools(&self) -> (&'static str, &'static str, &'static str) {
        let path = match self.name {
            "codex" | "copilot-cli" => "/path",
            "opencode" => "/filePath",
            _ => "/file_path",
        };
        (self.shell.1, self.write.1, path)
    }

    /// Program of the agent.
    pub(super) fn program(&self, agents: &Path) -> PathBuf {
        agents.join(self.name).join("node_modules/.bin").join(self.program)
    }

    /// Name of the event before a call.
    pub(super) fn before(&self) -> String {
        let dialect = Dialect::from_agent(self.name).unwrap();
        dialect.governed_events().find(|(_, role)| *role == EventRole::Before).unwrap().0.to_owned()
    }

    /// Installs the hook into the settings below `home`, and has `program` run in place of omen.
    pub(super) fn install(&self, home: &Path, program: &Path, args: &[&str]) {
        let installed = install(home, self.name, args);
        assert_eq!(installed.code, 0, "{}", installed.stderr);
        let path = settings(home, self.name);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(env!("CARGO_BIN_EXE_omen"), program.to_str().unwrap())).unwrap();
        confirm(home, self.name);
    }

    /// Command that runs the agent once, with the settings of the model at `url` below `home`.
    pub(super) fn command(&self, agents: &Path, home: &Path, url: &str) -> Command {
        let mut command = Command::new(self.program(agents));
        let path = std::env::var_os("PATH").unwrap();
        command
            .args(self.args)
            .env_clear()
            .env("PATH", path)
            .env("HOME", home)
            .env("SHELL", "/bin/sh")
            .env("TERM", "dumb");
        let file = |name: &str, text: String| {
            let path = home.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let key = "no-key";
        match self.name {
            "claude-code" => {
                command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", key).env("IS_SANDBOX", "1");
                command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
            }
            "codex" => {
                // A model to which the agent offers its tool for patches.
                let config = format!(
                    "model = 'gpt-5.5'\nmodel_provider = 'stub'\napproval_policy = 'never'\nsandbox_mode = 'danger-full-access'\n\
                     [model_providers.stub]\nname = 'stub'\nbase_url = '{url}/v1'\nwire_api = 'responses'\nenv_key = 'STUB_KEY'\n"
                );
                file(".codex/config.toml", config);
                command.env("CODEX_HOME", home.join(".codex")).env("STUB_KEY", key);
            }
            "gemini-cli" => {
                let settings = json!({
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": false}, "general": {"disableAutoUpdate": true},
                });
                file(".gemini/settings.json", settings.to_string());
                command.env("GOOGLE_GEMINI_BASE_URL", url).env("GEMINI_API_KEY", key);
                command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
            }
            "copilot-cli" => {
                command.env("COPILOT_OFFLINE", "true").env("COPILOT_MODEL", "stub");
                command.env("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1"));
            }
            _ => {
                let provider = json!({"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": format!("{url}/v1"), "apiKey": key},
                    "models": {"stub": {"tool_call": true}}});
                let config = json!({"model": "stub/stub", "autoupdate": false, "provider": {"stub": provider}});
                file(".config/opencode/opencode.json", config.to_string());
                command.env("OPENCODE_DISABLE_MODELS_FETCH", "1").env("OPENCODE_DISABLE_AUTOUPDATE", "1");
            }
        }
        command
    }
}
