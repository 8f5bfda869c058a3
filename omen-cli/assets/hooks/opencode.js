// Written by `omen hook install`; `omen hook install --undo` removes it. The gate decides on each tool call.
// In any case of doubt, this throws an error, and OpenCode does not run the tool.
import { spawn } from "node:child_process";

const COMMAND = $COMMAND;
const TIMEOUT_SECONDS = $TIMEOUT;
const ALLOWED = $ALLOWED;
const LONGEST_ANSWER = 1 << 20;

function answerTo(event) {
  return new Promise((resolve, reject) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
    const fail = (why) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`omen: ${why}`));
    };
    const timer = setTimeout(() => fail(`no decision within ${TIMEOUT_SECONDS} s`), TIMEOUT_SECONDS * 1000);
    const text = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (piece) => {
        text[name] += piece;
        if (text[name].length > LONGEST_ANSWER) fail("the gate's reply is too long");
      });
    }
    child.on("error", (error) => fail(`the gate cannot be started: ${error.message}`));
    child.stdin.on("error", () => {}); // The process has exited, which `close` reports.
    child.on("close", (code, signal) => {
      if (code !== 0) return fail(text.stderr.trim() || `the gate failed (${code ?? signal})`);
      clearTimeout(timer);
      resolve(text.stdout);
    });
    child.stdin.end(JSON.stringify(event));
  });
}

function reasonOf(answer) {
  try {
    return JSON.parse(answer).reason || "the gate refuses the call";
  } catch {
    return "the gate's reply is invalid";
  }
}

export const OmenGate = async ({ directory }) => ({
  "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
    const answer = await answerTo({ event: "tool.execute.before", tool, sessionID, callID, cwd: directory, args });
    if (answer !== ALLOWED) throw new Error(`omen: ${reasonOf(answer)}`);
  },
  "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
    await answerTo({ event: "tool.execute.after", tool, sessionID, callID, cwd: directory, args, output });
  },
});
