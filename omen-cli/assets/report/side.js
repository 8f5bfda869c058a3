// The list of episodes, with search and filter.
import { h, number } from "./dom.js";
import { visible } from "./text.js";
import { episodes, logNames, logs, packets, tables } from "./data.js";
import { toolsOf } from "./calls.js";
import { address, go } from "./route.js";
import { List } from "./list.js";

const side = document.getElementById("side");
const worst = { bad: 0, warned: 1, good: 2 };
const sorted = [...episodes].sort((a, b) => worst[a.tone] - worst[b.tone] || a.number - b.number);
let shown = sorted;

const episodeList = new List({
  label: "Episodes", height: 50,
  row: (episode) => [
    h("span", { class: `dot ${episode.tone}`, title: episode.tone === "good" ? "no findings" : episode.tone === "warned" ? "warnings" : "errors" }, episode.tone === "bad" ? "✕" : episode.tone === "warned" ? "▲" : "●"),
    h("span", { class: "main" }, h("span", { class: "one" }, visible(episode.name)),
      h("span", { class: "two" }, logs.length > 1 && h("span", { title: logs[episode.log] }, visible(episode.logName), " · "), summary(episode))),
  ],
  pick: (episode) => go(address(episode)),
});

function summary(episode) {
  const parts = [`${number(episode.packets.length)} packet${episode.packets.length === 1 ? "" : "s"}`];
  if (episode.errors > 0) parts.push(`${number(episode.errors)} error${episode.errors === 1 ? "" : "s"}`);
  if (episode.warnings > 0) parts.push(`${number(episode.warnings)} warning${episode.warnings === 1 ? "" : "s"}`);
  const end = episode.end.map((state) => tables.states[state][0]).join(" or ");
  return [...parts, end].filter(Boolean).join(" · ");
}

export const search = h("input", { type: "search", id: ":search", placeholder: "id, packet, type, code, text", autocomplete: "off", spellcheck: "false", oninput: () => later() });
const filter = h("select", { id: ":filter", onchange: () => narrow() },
  h("option", { value: "" }, "All episodes"), h("option", { value: "bad" }, "With errors"), h("option", { value: "warned" }, "With warnings only"), h("option", { value: "good" }, "Without findings"));
// Further filters. A filter with a single value is not shown.
const choices = [
  choice("code", "Code", ({ findings }) => findings.flatMap(({ code, also }) => [code, ...(also ?? [])])),
  choice("tool", "Tool", (episode) => [...episode.packets.map(({ links }) => links?.o), ...toolsOf(episode)]),
  choice("log", "Log", ({ log }) => [log], (log) => logNames[log]),
];
const count = h("p", { class: "count", role: "status" });

function choice(id, label, of, name = (value) => value) {
  const values = new Map(episodes.map((episode) => [episode, new Set(of(episode).filter((value) => value !== undefined && value !== null))]));
  const all = [...new Set([...values.values()].flatMap((found) => [...found]))].sort((a, b) => (name(a) < name(b) ? -1 : 1));
  const select = h("select", { id: `:${id}`, onchange: () => narrow() }, h("option", { value: "" }, "Any"), all.map((value, index) => h("option", { value: index }, visible(String(name(value))).textContent)));
  const fits = (episode) => select.value === "" || values.get(episode).has(all[select.value]);
  return { fits, shown: all.length > 1 && h("p", { class: "choice" }, h("label", { for: `:${id}` }, label), select) };
}

let waiting = 0;
function later() {
  clearTimeout(waiting);
  waiting = setTimeout(narrow, 80);
}

// Whether an episode contains a text: in its id, a packet's row, or a finding.
function has(episode, text) {
  if (episode.name.toLowerCase().includes(text)) return true;
  if (episode.findings.some(({ code, also, msg }) => `${code} ${also ?? ""} ${msg}`.toLowerCase().includes(text))) return true;
  return episode.packets.some((packet) => `${packet.id} ${packet.typeName} ${packet.brief}`.toLowerCase().includes(text));
}

function narrow() {
  const text = search.value.trim().toLowerCase();
  const tone = filter.value;
  shown = sorted.filter((episode) => (tone === "" || episode.tone === tone) && choices.every(({ fits }) => fits(episode)) && (text === "" || has(episode, text)));
  episodeList.show(shown);
  // Lines without an episode are listed, but not counted as an episode.
  const [some, all] = [shown, episodes].map((list) => list.filter(({ id }) => id !== null).length);
  count.textContent = `${number(some)} of ${number(all)} episodes${all < episodes.length ? ", and lines without an episode" : ""}`;
}

export function showSide() {
  side.append(h("h2", {}, "Episodes"), h("label", { for: ":search" }, "Search"), search, h("label", { for: ":filter" }, "Show"), filter, ...choices.flatMap(({ shown }) => shown || []), count, episodeList.element);
  // With a keyboard, readers need not step through the whole list.
  document.body.prepend(h("button", { type: "button", class: "skip", onclick: () => document.getElementById("main").focus() }, "Skip to the report"));
  side.hidden = packets.length === 0;
  narrow();
}

export function chooseInSide(episode) {
  episodeList.choose(episode);
}

export function neighbours(episode) {
  const at = shown.indexOf(episode);
  return { previous: shown[at - 1] ?? null, next: at < 0 ? (shown[0] ?? null) : (shown[at + 1] ?? null) };
}
