// Entries of the audit log: tool calls, the packets that requested them, and who confirmed them.
import { h, number, some } from "./dom.js";
import { cut, visible } from "./text.js";
import { calls, episodes } from "./data.js";
import { address } from "./route.js";

const byPacket = new Map();
const named = new Map(episodes.filter(({ id }) => id !== null).map((episode) => [episode.id, episode]));

// Finds the packet of each call. If one entry of a turn names a packet, as those of the proxy and `Gate::run` do, all entries of the
// turn belong to it. A call before a decision has no directive: its result is an observation, which names the turn. In `observe`, the
// packet with the request names the turn, and the episode is named after the turn.
function join(entries) {
  const ofTurn = new Map();
  for (const { turn, packet_id: id, correlation_id: of } of entries) {
    const packet = turn === undefined ? null : named.get(of)?.byId.get(id);
    if (packet && !ofTurn.has(turn)) ofTurn.set(turn, packet);
  }
  for (const packet of episodes.flatMap((episode) => (episode.id === null ? [] : episode.packets))) {
    const turn = packet.links?.t;
    if (turn !== undefined && !ofTurn.has(turn)) ofTurn.set(turn, packet);
  }
  const inEpisode = (turn) => named.get(`corr_${turn.replace(/[^A-Za-z0-9_-]/g, "-")}`);
  for (const entry of entries) {
    entry.data = JSON.parse(entry.data);
    entry.packet = named.get(entry.correlation_id)?.byId.get(entry.packet_id) ?? ofTurn.get(entry.turn) ?? null;
    // In `enforce`, a refused call has no packet. Its session is the episode, whose name is a prefix of the turn.
    entry.episode = entry.packet?.episode ?? (entry.turn && (inEpisode(entry.turn) ?? inEpisode(entry.turn.replace(/\.\d+$/, "")))) ?? null;
    if (entry.packet) byPacket.set(entry.packet, [...(byPacket.get(entry.packet) ?? []), entry]);
  }
}
join(calls ?? []);

// Entries about a packet.
export function entriesOf(packet) {
  return byPacket.get(packet) ?? [];
}

// Tools that the entries of each episode name.
const tools = new Map();
for (const { episode, data } of calls ?? []) {
  if (episode && data.tool?.tool) tools.set(episode, [...(tools.get(episode) ?? []), data.tool.tool]);
}

export function toolsOf(episode) {
  return tools.get(episode) ?? [];
}

// Refused calls and calls in doubt need attention; a tool's own failure does not.
function tone({ standing, data }) {
  if (["refused", "in_doubt", "owed"].includes(standing)) return "warned";
  return data.outcome === "allowed" || (data.ran === "yes" && !data.class) ? "good" : "plain";
}

function link(entry) {
  if (entry.packet) return h("a", { href: address(entry.packet.episode, entry.packet) }, visible(entry.packet.id));
  if (entry.episode) return h("a", { href: address(entry.episode) }, visible(entry.episode.name));
  return entry.packet_id && visible(entry.packet_id);
}

export function entryRow(entry) {
  const { data } = entry;
  const tool = data.tool && [data.tool.server, data.tool.tool].filter(Boolean).join("/");
  const by = data.by && [data.by.user ?? (data.by.uid === undefined ? null : `user ${data.by.uid}`), data.by.via].filter(Boolean).join(", ");
  const result = [entry.standing === "in_doubt" ? "in doubt" : data.outcome, data.code, data.ran && `ran: ${data.ran}`, data.class].filter((part) => typeof part === "string").join(", ");
  const { waited_ms: waited, for: premises } = entry.kind === "intent" ? data.order ?? {} : {};
  const order = [waited && `waited ${waited} ms`, premises?.length > 0 && `for entries ${premises.join(", ")}`].filter(Boolean).join(", ");
  return h("tr", {},
    h("td", { class: "n" }, number(entry.sequence)),
    h("td", { class: "time" }, visible(entry.time)),
    h("td", {}, visible(entry.kind)),
    h("td", {}, tool && visible(tool)),
    h("td", {}, result && h("span", { class: `tag ${tone(entry)}` }, visible(result)), by && [" by ", visible(by)], data.why && [" ", cut(String(data.why), 200)], order && [" ", visible(order)]),
    h("td", {}, link(entry)),
    h("td", {}, h("details", {}, h("summary", {}, "data"), h("code", {}, cut(JSON.stringify(data), 600)))));
}

export function entryTable(rows) {
  return h("div", { class: "wide", role: "region", tabindex: "0", "aria-label": "Audit entries, table" }, h("table", { class: "entries" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "n" }, "#"), ["Time", "Entry", "Tool", "Result", "Packet", "Data"].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, rows)));
}

function table(title, rows, at) {
  const groups = [];
  for (let from = 0; from < rows.length; from += at) groups.push(rows.slice(from, from + at));
  return [h("h3", {}, title), some(groups, 1, (group) => entryTable(group.map(entryRow)))];
}

// Refused calls, calls in doubt, owed calls and confirmed calls come first, followed by all entries.
export function showCalls() {
  const box = document.getElementById("entries");
  if (!box || !calls) return;
  const kinds = [...new Set(calls.map(({ kind }) => kind))];
  for (const [standing, title] of [["refused", "Refused calls"], ["in_doubt", "Calls in doubt"], ["owed", "Owed calls"], ["confirmed", "Confirmed calls"]]) {
    const rows = calls.filter((entry) => entry.standing === standing);
    if (rows.length > 0) box.append(...table(title, rows, 20));
  }
  box.append(...table("All entries", calls, 100));
  box.querySelector("h3:last-of-type").after(h("p", { class: "note" }, kinds.map((kind) => `${number(calls.filter((entry) => entry.kind === kind).length)} of kind ${kind}`).join(" · ")));
}
