// Opens reports in a real browser. The tests are in `tests.mjs`; the name of one and the reports are given on the command line:
//
//   node browser.mjs FOLDER TEST REPORT…
//
// FOLDER contains `chromium`, and `node_modules` with puppeteer-core and axe-core.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as tests from "./tests.mjs";

const [folder, name, ...reports] = process.argv.slice(2);
const require = createRequire(join(folder, "node_modules/"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core"), "utf8");

const browser = await (puppeteer.launch ?? puppeteer.default.launch).call(puppeteer.default ?? puppeteer, {
  executablePath: join(folder, "chromium"),
  // In tests without a network, there is not even a loopback interface.
  pipe: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions"],
});

// Opens a report at an address within it. Records errors that the page reports, and requests that it sends, in `page.troubles`.
async function open(report, { hash = "", width = 1280, height = 900, dark = false, media } = {}) {
  const page = await browser.newPage();
  const url = pathToFileURL(report).href;
  const troubles = [];
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && troubles.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("request", (request) => request.url() !== url && request.url().split("#")[0] !== url && troubles.push(`request: ${request.url().slice(0, 200)}`));
  page.on("dialog", (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  if (media) await page.emulateMediaType(media);
  await page.goto(url + hash, { timeout: 0 });
  // The page's module runs before the page counts as loaded.
  if (!(await page.$("html[data-ready]"))) throw new Error(`the page is not ready: ${troubles.join("; ")}`);
  page.troubles = troubles;
  // Returns the violations that are serious or critical for accessibility.
  page.violations = async () => {
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    return found.violations.filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => `${html.slice(0, 160)} (${any[0]?.message ?? ""})`).join(" | ")}`);
  };
  page.count = () => page.evaluate(() => document.querySelectorAll("*").length);
  page.text = (selector) => page.$eval(selector, (element) => element.textContent);
  return page;
}

try {
  await tests[name](open, reports);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await browser.close();
}
