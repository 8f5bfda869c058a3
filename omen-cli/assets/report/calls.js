// The entries of the audit log: calls of tools, who asked for them, and who confirmed them.
import { h, number, some } from "./dom.js";
import { cut, visible } from "./text.js";
import { calls, episodes } from "./data.js";
import { address } from "./route.js";

const byPacket = new Map();
const named = new Map(episodes.filter(({ id }) => id !== null).map((episode) => [episode.id, episode]));
for (const entry of calls ?? []) {
  entry.data = JSON.parse(entry.data);
  const packet = named.get(entry.correlation_id)?.byId.get(entry.packet_id);
  entry.packet = packet ?? null;
  if (packet) byPacket.set(packet, [...(byPacket.get(packet) ?? []), entry]);
}

// The entries about a packet.
export function entriesOf(packet) {
  return byPacket.get(packet) ?? [];
}

function tone({ code, outcome, ran, class: fault }) {
  if (code || outcome === "denied" || fault) return "bad";
  return outcome === "allowed" || ran ? "good" : "plain";
}

export function entryRow(entry) {
  const { data } = entry;
  const tool = data.tool && [data.tool.server, data.tool.tool].filter(Boolean).join("/");
  const by = data.by && [data.by.user ?? (data.by.uid === undefined ? null : `user ${data.by.uid}`), data.by.via].filter(Boolean).join(", ");
  const result = [data.outcome, data.code, data.ran && `ran: ${data.ran}`, data.class].filter((part) => typeof part === "string").join(", ");
  return h("tr", {},
    h("td", { class: "n" }, number(entry.sequence)),
    h("td", { class: "time" }, visible(entry.time)),
    h("td", {}, visible(entry.kind)),
    h("td", {}, tool && visible(tool)),
    h("td", {}, result && h("span", { class: `tag ${tone(data)}` }, visible(result)), by && [" by ", visible(by)], data.why && [" ", cut(String(data.why), 200)]),
    h("td", {}, entry.packet ? h("a", { href: address(entry.packet.episode, entry.packet) }, visible(entry.packet_id)) : entry.packet_id && visible(entry.packet_id)),
    h("td", {}, h("details", {}, h("summary", {}, "data"), h("code", {}, cut(JSON.stringify(data), 600)))));
}

export function entryTable(rows) {
  return h("div", { class: "wide", role: "region", tabindex: "0", "aria-label": "Audit entries, table" }, h("table", { class: "entries" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "n" }, "#"), ["Time", "Entry", "Tool", "Result", "Packet", "Data"].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, rows)));
}

// All calls, with their confirmations.
export function showCalls() {
  const box = document.getElementById("entries");
  if (!box || !calls) return;
  const kinds = [...new Set(calls.map(({ kind }) => kind))];
  const groups = [];
  for (let from = 0; from < calls.length; from += 100) groups.push(calls.slice(from, from + 100));
  box.append(h("p", { class: "note" }, kinds.map((kind) => `${number(calls.filter((entry) => entry.kind === kind).length)} ${kind}`).join(" · ")),
    some(groups, 1, (group) => entryTable(group.map(entryRow))));
}
