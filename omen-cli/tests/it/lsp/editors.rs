//! What editors are set up with: the extension for VS Code and the configuration for Neovim.

use std::process::Command as Process;

use super::*;

const EDITORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../editors");

fn manifest() -> Value {
    serde_json::from_str(&fs::read_to_string(format!("{EDITORS}/vscode/package.json")).unwrap()).unwrap()
}

/// What the manifest names is there, and what the script uses is declared.
#[test]
fn the_manifest_of_the_extension_fits_its_files() {
    let manifest = manifest();
    let script = fs::read_to_string(format!("{EDITORS}/vscode/extension.js")).unwrap();
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let contributes = &manifest["contributes"];
    let language = &contributes["languages"][0];
    for file in [&manifest["main"], &language["configuration"]] {
        let path = Path::new(EDITORS).join("vscode").join(file.as_str().unwrap());
        assert!(path.is_file(), "{}", path.display());
    }
    let needed: Vec<_> = script.split("require(\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let declared = manifest["dependencies"].as_object().unwrap();
    let is_declared = |name: &&str| *name == "vscode" || declared.keys().any(|one| name.split('/').next() == Some(one));
    assert!(needed.len() == 2 && needed.iter().all(is_declared), "{needed:?}");
    let settings = contributes["configuration"]["properties"].as_object().unwrap();
    assert_eq!(settings.keys().collect::<Vec<_>>(), ["omen.path"]);
    assert!(script.contains("getConfiguration(\"omen\").get(\"path\")"));
    for command in contributes["commands"].as_array().unwrap() {
        assert!(script.contains(&format!("registerCommand({}", command["command"])), "{command}");
    }
    let (id, name) = (language["id"].as_str().unwrap(), "a.json");
    // The server takes documents of this language for logs, whatever their content.
    let mut client = Client::new(&[]);
    client.open_as(name, id, "{\n \"a\": 1\n}\n");
    assert!(!client.diagnostics(name, 1).is_empty());
    client.end();
}

/// The extension, as a package that VS Code installs.
#[test]
fn the_extension_is_packaged() {
    let Some(tools) = Need::Vsce.path() else { return };
    let folder = folder(&[]);
    let extension = folder.path().join("vscode");
    fs::create_dir(&extension).unwrap();
    for entry in fs::read_dir(format!("{EDITORS}/vscode")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, extension.join(path.file_name().unwrap())).unwrap();
        }
    }
    // What `npm install` would bring, as the script has it.
    let modules = extension.join("node_modules");
    let copied = Process::new("cp").arg("-R").arg(tools.join("extension/node_modules")).arg(&modules).status();
    assert!(copied.unwrap().success());
    let packaged = Process::new("node")
        .arg(tools.join("node_modules/@vscode/vsce/vsce"))
        .args(["package", "--allow-missing-repository", "--out", "omen.vsix"])
        .current_dir(&extension)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&packaged.stdout) + String::from_utf8_lossy(&packaged.stderr);
    assert!(packaged.status.success(), "{said}");
    // The script is in a file, and what it depends on is not bundled with it, so that there is nothing to build.
    let mut warnings = said.lines().filter(|line| line.contains("WARNING"));
    assert!(warnings.all(|line| line.contains("you should bundle your extension")), "{said}");
    let listed = Process::new("python3").args(["-m", "zipfile", "-l", "omen.vsix"]).current_dir(&extension).output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    for file in [
        "extension.js",
        "package.json",
        "language-configuration.json",
        "node_modules/vscode-languageclient/package.json",
    ] {
        assert!(listed.contains(&format!("extension/{file} ")), "{file}: {listed}");
    }
}

/// The script loads, and starts `omen lsp` by a stand-in for the library of VS Code.
#[test]
fn the_script_of_the_extension_starts_the_server() {
    let modules = folder(&[("probe.js", PROBE.as_bytes())]);
    let output = Process::new("node")
        .arg(modules.path().join("probe.js"))
        .arg(format!("{EDITORS}/vscode/extension.js"))
        .output();
    let Ok(output) = output else { return Need::Node.skip("node is not installed") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "started /opt/omen lsp\nstopped\n");
}

const PROBE: &str = r#"
const load = require("module")._load;
class LanguageClient {
  constructor(id, name, server) { this.server = server; }
  async start() { console.log("started", this.server.command, this.server.args.join(" ")); }
  needsStop() { return true; }
  async stop() { console.log("stopped"); }
}
const vscode = {
  workspace: { getConfiguration: () => ({ get: () => "/opt/omen" }), onDidChangeConfiguration: () => ({}) },
  commands: { registerCommand: () => ({}) },
  window: {},
};
require("module")._load = (name, ...rest) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient, TransportKind: {} } : load(name, ...rest);
const extension = require(process.argv[2]);
extension.activate({ subscriptions: [] }).then(extension.deactivate);
"#;

/// Neovim itself, with the file that the page says to copy.
#[test]
fn neovim_shows_the_findings() {
    let Some(nvim) = Need::Neovim.path() else { return };
    let folder =
        folder(&[("omen.toml", b"[check]\n"), ("a.jsonl", log(BAD).as_bytes()), ("probe.lua", NEOVIM.as_bytes())]);
    fs::create_dir_all(folder.path().join("config/nvim/lsp")).unwrap();
    fs::copy(format!("{EDITORS}/neovim/omen.lua"), folder.path().join("config/nvim/lsp/omen.lua")).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_omen")).parent().unwrap();
    let output = Process::new(nvim)
        .args(["--headless", "-c", "luafile probe.lua", "a.jsonl"])
        .current_dir(folder.path())
        .env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()))
        .env("XDG_CONFIG_HOME", folder.path().join("config"))
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .env("XDG_STATE_HOME", folder.path().join("state"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let findings = findings::checked(folder.path(), "a.jsonl", log(BAD));
    let code = findings[0]["code"].as_str().unwrap();
    assert!(said.contains(&format!("found {} {code}", findings.len())), "{said}");
}

const NEOVIM: &str = r#"
vim.filetype.add({ extension = { jsonl = 'jsonl' } })
vim.lsp.enable('omen')
vim.cmd.edit('a.jsonl')
vim.bo.filetype = 'jsonl'
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end)
local found = vim.diagnostic.get(0)
io.stdout:write('found ' .. #found .. ' ' .. (found[1] and found[1].code or 'nothing') .. '\n')
vim.cmd('qall!')
"#;
