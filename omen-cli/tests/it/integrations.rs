//! Integrations with CI systems in this repository: an action for GitHub, a component for GitLab, a hook for pre-commit. Each is
//! run as its system runs it, on a sample repository, with the built command. `.ci/install schemas` installs the YAML parser and
//! validators.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command as Process, Output};

use super::formats::valid;
use super::*;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Prints the documents of a YAML file as one JSON array.
const LOAD: &str = "
import json, sys
from ruamel.yaml import YAML
with open(sys.argv[1]) as file:
    print(json.dumps(list(YAML(typ='safe', pure=True).load_all(file))))
";

/// Returns the documents of a file at the root of the repository; `None` without a parser.
fn documents(name: &str) -> Option<Vec<Value>> {
    let output = python(&["-c", LOAD, &format!("{ROOT}/{name}")])?;
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// Runs Python with the validators.
fn python(args: &[&str]) -> Option<Output> {
    let schemas = Need::Schemas.path()?;
    let output = Process::new("python3").args(args).env("PYTHONPATH", schemas).output().expect("python3 starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(output)
}

/// Returns a repository with logs, one of them in a folder with a space in its name.
fn repository() -> TempDir {
    let folder = folder(&[("good.jsonl", log(GOOD).as_bytes()), ("warned.jsonl", log(WARNED).as_bytes())]);
    fs::create_dir(folder.path().join("my logs")).unwrap();
    write(folder.path(), "my logs/bad.jsonl", log(BAD).as_bytes());
    folder
}

/// Returns a `PATH` that begins with the folder of the built command.
fn path() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_omen")).parent().unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// The action, as a runner of GitHub Actions runs it.
struct Runner {
    action: Value,
    inputs: BTreeMap<String, String>,
    /// Outputs of the steps: `install.omen`.
    outputs: BTreeMap<String, String>,
    repository: TempDir,
    temp: TempDir,
    path: String,
    said: String,
}

impl Runner {
    fn new(inputs: &[(&str, &str)]) -> Option<Self> {
        let action = documents("action.yml")?.remove(0);
        let declared = action["inputs"].as_object().unwrap();
        let mut all: BTreeMap<String, String> = declared
            .iter()
            .map(|(name, input)| (name.clone(), input["default"].as_str().unwrap().to_owned()))
            .collect();
        for (name, value) in inputs {
            all.insert((*name).to_owned(), (*value).to_owned()).expect("an input of the action");
        }
        Some(Self {
            action,
            inputs: all,
            outputs: BTreeMap::new(),
            repository: repository(),
            temp: TempDir::new().unwrap(),
            path: path(),
            said: String::new(),
        })
    }

    /// Returns the value of an expression: an input, or the output of a step.
    fn value(&self, expression: &str) -> String {
        if let Some(name) = expression.strip_prefix("inputs.") {
            return self.inputs[name].clone();
        }
        let (step, name) = expression.strip_prefix("steps.").and_then(|rest| rest.split_once(".outputs.")).unwrap();
        self.outputs.get(&format!("{step}.{name}")).cloned().unwrap_or_default()
    }

    fn text(&self, text: &str) -> String {
        match text.split_once("${{ ") {
            None => text.to_owned(),
            Some((before, rest)) => {
                let (expression, rest) = rest.split_once(" }}").unwrap();
                before.to_owned() + &self.value(expression) + &self.text(rest)
            }
        }
    }

    /// Runs the steps. Returns the exit code of the first one that fails, and the uploaded file.
    fn run(&mut self) -> (i32, Option<PathBuf>) {
        let (mut code, mut uploaded) = (0, None);
        for step in self.action["runs"]["steps"].clone().as_array().unwrap() {
            if let Some(action) = step["uses"].as_str() {
                assert_eq!(action, "github/codeql-action/upload-sarif@v3");
                let when = "always() && inputs.upload-sarif == 'true' && steps.check.outputs.sarif != ''";
                assert_eq!(step["if"], when);
                let sarif = self.text(step["with"]["sarif_file"].as_str().unwrap());
                uploaded =
                    (self.value("inputs.upload-sarif") == "true" && !sarif.is_empty()).then(|| PathBuf::from(sarif));
            } else if code == 0 {
                code = self.step(step);
            }
        }
        (code, uploaded)
    }

    fn step(&mut self, step: &Value) -> i32 {
        let script = step["run"].as_str().unwrap();
        assert!(!script.contains("${{"), "an input could be a command: {script}");
        assert_eq!(step["shell"], "bash");
        let file = |name: &str| self.temp.path().join(name);
        fs::write(file("script"), script).unwrap();
        fs::write(file("output"), "").unwrap();
        // A step may read what another action has written.
        fs::write(file("summary"), "").unwrap();
        let mut bash = Process::new("bash");
        bash.args(["--noprofile", "--norc", "-e", "-o", "pipefail"]).arg(file("script")).current_dir(&self.repository);
        bash.env("PATH", &self.path).env("RUNNER_TEMP", self.temp.path()).env("GITHUB_ACTION_PATH", ROOT);
        bash.env("GITHUB_OUTPUT", file("output")).env("GITHUB_STEP_SUMMARY", file("summary"));
        for (name, value) in step["env"].as_object().unwrap() {
            bash.env(name, self.text(value.as_str().unwrap()));
        }
        let output = bash.output().expect("bash starts");
        self.said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        let id = step["id"].as_str().unwrap();
        for line in fs::read_to_string(self.temp.path().join("output")).unwrap().lines() {
            let (name, value) = line.split_once('=').unwrap();
            self.outputs.insert(format!("{id}.{name}"), value.to_owned());
        }
        output.status.code().unwrap()
    }

    fn summary(&self) -> String {
        fs::read_to_string(self.temp.path().join("summary")).unwrap()
    }
}

const OMEN: &str = env!("CARGO_BIN_EXE_omen");

#[test]
fn the_action_is_valid() {
    let action = format!("{ROOT}/action.yml");
    python(&["-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", &action]);
}

#[test]
fn the_action_annotates_summarizes_and_uploads() {
    let Some(mut runner) = Runner::new(&[("binary", OMEN), ("paths", "good.jsonl\nmy logs\n")]) else { return };
    let (code, uploaded) = runner.run();
    assert_eq!((code, runner.value("steps.check.outputs.exit-code")), (1, "1".to_owned()), "{}", runner.said);
    assert_eq!(valid::github(&runner.said), 1);
    assert!(runner.said.starts_with("::error file=my logs/bad.jsonl,line=6,"), "{}", runner.said);
    assert_eq!(valid::markdown(&runner.summary()), 1);
    assert_eq!(valid::sarif(&fs::read_to_string(uploaded.unwrap()).unwrap()), 1);
    // The outputs of the action are those of its step.
    for (name, output) in runner.action["outputs"].as_object().unwrap() {
        assert_eq!(output["value"], format!("${{{{ steps.check.outputs.{name} }}}}"));
    }
}

#[test]
fn the_action_takes_arguments_and_a_configuration() {
    let inputs = [("binary", OMEN), ("args", "-A INV-011\n-D warnings"), ("upload-sarif", "false")];
    let Some(mut runner) = Runner::new(&inputs) else { return };
    write(runner.repository.path(), "omen.toml", b"[check]\ninputs = [\"warned.jsonl\"]\n");
    let (code, uploaded) = runner.run();
    assert_eq!((code, uploaded), (1, None), "{}", runner.said);
    assert!(runner.said.starts_with("::error file=warned.jsonl,"), "{}", runner.said);
    let Some(mut clean) = Runner::new(&[("binary", "omen"), ("paths", "good.jsonl")]) else { return };
    assert_eq!(clean.run().0, 0, "{}", clean.said);
    assert!(clean.summary().contains(" 0 errors, 0 warnings"), "{}", clean.summary());
}

/// An input is data, whatever is in it.
#[test]
fn an_input_of_the_action_is_no_command() {
    for (name, value) in [("paths", "$(touch made)`touch made`;touch made"), ("args", "$(touch${IFS}made) ;touch made")]
    {
        let Some(mut runner) = Runner::new(&[("binary", OMEN), ("paths", "good.jsonl"), (name, value)]) else { return };
        assert_eq!(runner.run().0, 3, "{}", runner.said);
        assert!(!runner.repository.path().join("made").exists());
    }
    // An empty input is a failure, and nothing is uploaded after a usage error.
    let Some(mut runner) = Runner::new(&[("binary", OMEN), ("paths", "my logs"), ("args", "--exclude *.jsonl")]) else {
        return;
    };
    assert_eq!(runner.run().0, 3, "{}", runner.said);
    let Some(mut runner) = Runner::new(&[("binary", OMEN), ("args", "--sarif")]) else { return };
    assert_eq!(runner.run(), (2, None), "{}", runner.said);
}

/// Without a binary, the command is built from the sources of the action.
#[test]
fn the_action_builds_the_command() {
    use std::os::unix::fs::PermissionsExt as _;

    let Some(mut runner) = Runner::new(&[("paths", "good.jsonl")]) else { return };
    let cargo = format!(
        "#!/bin/sh\nset -e\n[ \"$1 $2 $3 $5\" = 'install --locked --path --root' ]\n\
         grep -q 'name = \"omen-cli\"' \"$4/Cargo.toml\"\nmkdir -p \"$6/bin\"\nln -s '{OMEN}' \"$6/bin/omen\"\n"
    );
    let tools = folder(&[("cargo", cargo.as_bytes())]);
    fs::set_permissions(tools.path().join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    runner.path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    assert_eq!(runner.run().0, 0, "{}", runner.said);
    assert_eq!(runner.value("steps.install.outputs.omen"), runner.temp.path().join("omen/bin/omen").to_str().unwrap());
}

/// Returns the component with values for its inputs, as GitLab inserts them.
fn job(inputs: &[(&str, &str)]) -> Option<Value> {
    let [header, body] = <[Value; 2]>::try_from(documents("templates/omen-check.yml")?).unwrap();
    let declared = header["spec"]["inputs"].as_object().unwrap();
    let mut text = body.to_string();
    for (name, input) in declared {
        let given = inputs.iter().find(|(given, _)| given == name).map(|(_, value)| *value);
        let value = given.or(input["default"].as_str()).unwrap_or_else(|| panic!("{name} is required"));
        let value = serde_json::to_string(value).unwrap();
        text = text.replace(&format!("$[[ inputs.{name} ]]"), &value[1..value.len() - 1]);
    }
    assert!(inputs.iter().all(|(name, _)| declared.contains_key(*name)) && !text.contains("$[["), "{text}");
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn the_component_is_valid() {
    let Some(job) = job(&[("image", "registry.example.org/omen:1")]) else { return };
    let folder = folder(&[("job.json", job.to_string().as_bytes())]);
    let file = folder.path().join("job.json");
    let schema = ["-m", "check_jsonschema", "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"];
    python(&[&schema[..], &[file.to_str().unwrap()]].concat());
}

#[test]
fn the_component_writes_both_reports() {
    for (shell, inputs, code, issues) in [
        ("bash", &[("paths", "good.jsonl\nmy logs")][..], 1, 1),
        ("sh", &[("paths", "good.jsonl\nmy logs")], 1, 1),
        ("sh", &[("paths", "warned.jsonl"), ("args", "-A INV-011 -D INV-012")], 1, 4),
        ("sh", &[("paths", "*.jsonl"), ("args", "-A INV-012")], 0, 0),
        ("sh", &[], 1, 1),
        ("sh", &[("paths", "none")], 3, 1),
        ("sh", &[("paths", "good.jsonl"), ("install", "false")], 1, 0),
    ] {
        let Some(job) = job(&[&[("image", "omen:1")], inputs].concat()) else { return };
        let job = &job["omen-check"];
        let repository = repository();
        write(repository.path(), "omen.toml", b"[check]\ninputs = [\"my logs\"]\n");
        let lines =
            |name: &str| job[name].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>();
        let script = [lines("before_script"), lines("script")].concat().join("\n");
        let mut process = Process::new(shell);
        process.args(["-e", "-c", &script]).current_dir(&repository).env("PATH", path());
        for (name, value) in job["variables"].as_object().unwrap() {
            process.env(name, value.as_str().unwrap());
        }
        let output = process.output().expect("a shell starts");
        assert_eq!(output.status.code(), Some(code), "{inputs:?}: {}", String::from_utf8_lossy(&output.stderr));
        let report = |name: &str| {
            let file = job["artifacts"]["reports"][name].as_str().unwrap();
            fs::read_to_string(repository.path().join(file)).ok()
        };
        if inputs.contains(&("install", "false")) {
            assert_eq!(report("junit"), None);
            continue;
        }
        assert_eq!(valid::gitlab(&report("codequality").unwrap()), issues, "{inputs:?}");
        valid::junit(&report("junit").unwrap());
        assert_eq!(job["artifacts"]["when"], "always");
    }
}

#[test]
fn the_hook_checks_the_logs_that_are_committed() {
    let Some(documents) = documents(".pre-commit-hooks.yaml") else { return };
    let [hook] = &documents[0].as_array().unwrap()[..] else { panic!("one hook") };
    let text = |key: &str| hook[key].as_str().unwrap_or_else(|| panic!("{key} is required"));
    assert_eq!((text("id"), text("language")), ("omen-check", "system"));
    assert!(text("name").len() > 3 && text("description").len() > 3);
    let files = regex::Regex::new(text("files")).unwrap();
    let committed =
        ["good.jsonl", "my logs/bad.jsonl", "package.json", "src/main.rs", "a.ndjson.gz", "b.jsonl.zst", "jsonl"];
    let logs: Vec<&str> = committed.into_iter().filter(|name| files.is_match(name)).collect();
    assert_eq!(logs, ["good.jsonl", "my logs/bad.jsonl", "a.ndjson.gz", "b.jsonl.zst"]);

    let repository = repository();
    let run = |args: &[&str]| {
        let mut words = text("entry").split(' ');
        let mut hook = Process::new(words.next().unwrap());
        let output = hook.args(words).args(args).current_dir(&repository).env("PATH", path()).output();
        let output = output.expect("the command is on the PATH");
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(run(&["good.jsonl"]).0, Some(0));
    let (code, said) = run(&["good.jsonl", "my logs/bad.jsonl"]);
    assert!(code == Some(1) && said.starts_with("error[E4"), "{said}");
    // The user's arguments come before the files.
    assert_eq!(run(&["--baseline=known.json", "--write-baseline", "my logs/bad.jsonl"]).0, Some(0));
    assert_eq!(run(&["--baseline=known.json", "good.jsonl", "my logs/bad.jsonl"]).0, Some(0));
}
