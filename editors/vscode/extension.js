// Starts `omen lsp` for logs, omen.toml and gate.toml. The server does everything else.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

/** Documents that the server checks: logs, by language or name, and the two configurations, by name. */
const documentSelector = [
  { language: "omen-log" },
  { scheme: "file", pattern: "**/*.jsonl" },
  { scheme: "file", pattern: "**/*.ndjson" },
  { scheme: "file", pattern: "**/*.json" },
  { scheme: "file", pattern: "**/omen.toml" },
  { scheme: "file", pattern: "**/gate.toml" },
];

let client;

async function start() {
  const command = vscode.workspace.getConfiguration("omen").get("path") || "omen";
  client = new LanguageClient(
    "omen",
    "OMEN",
    { command, args: ["lsp"], transport: TransportKind.stdio },
    { documentSelector },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const open = "Open Settings";
    const chosen = await vscode.window.showErrorMessage(
      `cannot start \`${command} lsp\`: ${error.message ?? error}; install omen, or set \`omen.path\``,
      open,
    );
    if (chosen === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "omen.path");
    }
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running?.needsStop()) {
    await running.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("omen.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => (event.affectsConfiguration("omen.path") ? restart() : undefined)),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
