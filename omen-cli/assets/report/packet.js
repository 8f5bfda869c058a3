// One packet: its findings, links and text.
import { h } from "./dom.js";
import { clock, visible } from "./text.js";
import { states, tables } from "./data.js";
import { address } from "./route.js";
import { card } from "./finding.js";
import { chain, incoming, outgoing } from "./links.js";
import { entriesOf, entryRow, entryTable } from "./calls.js";
import { tree } from "./tree.js";

export function stateNames(nodes) {
  return nodes.length === 0 ? "unknown" : states(nodes).map((state) => tables.states[state][0]).join(" or ");
}

export function title(packet) {
  return packet.id ?? `line ${packet.line}`;
}

function chip(packet, selected) {
  const content = [h("span", { class: "kind" }, packet.typeName), " ", visible(title(packet))];
  if (packet === selected) return h("b", { class: `chip ${packet.tone}`, "aria-current": "true" }, content);
  return h("a", { class: `chip ${packet.tone}`, href: address(packet.episode, packet) }, content);
}

function fact(name, ...value) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, ...value));
}

export function packetPanel(packet, uses) {
  const { findings, text } = packet;
  const marks = findings.filter(({ span }) => span).map(({ span, label }) => ({ span, label }));
  const way = chain(packet);
  const others = [
    ...outgoing(packet).filter(({ step }) => !step).map(({ label, to, id }) => h("li", {}, `${label}: `, to ? chip(to) : visible(id))),
    ...incoming(packet).filter(({ step }) => !step).slice(0, 20).map(({ label, from }) => h("li", {}, `${label} of `, chip(from))),
  ];
  const entries = entriesOf(packet);
  const moves = packet.accepted && stateNames(packet.before) !== stateNames(packet.after);
  return h("section", { class: "panel", "aria-label": "Packet" },
    h("h3", { tabindex: "-1" }, visible(title(packet))),
    h("p", { class: "under" }, h("span", { class: `tag ${packet.tone}` }, packet.accepted ? "accepted" : "rejected"), " ", packet.typeName, packet.brief && [" · ", visible(packet.brief)]),
    findings.map((finding) => card(finding, false)),
    h("dl", { class: "facts" },
      fact("Line", String(packet.line)),
      packet.time !== null && fact("Created", clock(packet.time)),
      packet.layer !== null && fact("Layer", visible(packet.layer)),
      fact("State", stateNames(packet.before), moves && [" → ", stateNames(packet.after)]),
      packet.eventName && fact("Event", packet.eventName),
      uses && fact("Budgets", uses.map(({ name, used, limit }, index) => [index > 0 && ", ", h("span", { class: used > limit ? "over" : null }, `${Math.round(used).toLocaleString("en-US")} of ${limit.toLocaleString("en-US")} ${name}`)]).flat())),
    way.length > 0 && [h("h4", {}, "From the decision to the result"), h("p", { class: "chain" }, way.map((other, index) => [index > 0 && h("span", { class: "arrow", "aria-hidden": "true" }, " → "), chip(other, packet)]).flat())],
    others.length > 0 && [h("h4", {}, "Other links"), h("ul", { class: "plain" }, others)],
    entries.length > 0 && [h("h4", {}, "At the tool boundary"), entryTable(entries.map(entryRow))],
    h("h4", {}, "Packet"),
    text === null ? h("p", { class: "note" }, "The text of this packet was left out to limit the size of the report. It is in the log.") : tree(text, marks));
}
