#!/usr/bin/env node
// Runs the binary of the package for this platform, and exits with its exit code or signal.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");

// Exit code of `omen` for failures other than findings and usage errors.
const FAILED = 3;

function fail(message) {
  console.error(`omen: ${message}`);
  process.exit(FAILED);
}

function binary() {
  const name = `omen-cli-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/omen`);
  } catch {
    const known = Object.keys(require("./package.json").optionalDependencies);
    if (known.includes(name)) {
      return fail(`the package ${name} is missing; reinstall without --omit=optional`);
    }
    return fail(`no binary for ${process.platform}-${process.arch}; available packages: ${known.join(", ")}`);
  }
}

// A terminal sends these to the command as well. Forwarded, they would arrive twice, and the second would end the command at once.
const OF_TERMINALS = ["SIGHUP", "SIGINT", "SIGQUIT"];

function hasTerminal() {
  try {
    fs.closeSync(fs.openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

const passedOn = hasTerminal() ? ["SIGTERM"] : ["SIGTERM", ...OF_TERMINALS];
for (const signal of ["SIGTERM", ...OF_TERMINALS]) {
  process.on(signal, () => passedOn.includes(signal) && child.kill(signal));
}
const child = spawn(binary(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`cannot start the command: ${error.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exitCode = code;
  } else {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
});
