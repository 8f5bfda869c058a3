// The overview: rejected packets come first.
import { counted, h, number, some } from "./dom.js";
import { cut, visible } from "./text.js";
import { logs, packets, roots } from "./data.js";
import { card } from "./finding.js";
import { incoming, outgoing } from "./links.js";
import { address } from "./route.js";

const box = document.getElementById("rejected");
const AT_ONCE = 20;
const WRITES = 50;

export function showFindings() {
  const errors = roots.filter(({ sev }) => sev === "error");
  const warnings = roots.filter(({ sev }) => sev !== "error");
  const part = (title, id, found) => [h("h2", { id }, title), h("p", { class: "note" }, counted(found.length, "finding")), some(found, AT_ONCE, (finding) => card(finding, true))];
  if (errors.length > 0) box.append(...part("Rejected packets and open ends", "rejected-title", errors));
  else box.append(h("h2", { id: "rejected-title" }, "Rejected packets"), h("p", {}, "None."));
  if (warnings.length > 0) box.append(...part("Warnings", "warnings-title", warnings));
}

// Each directive that writes, with its decision, its token and its result.
export function showWrites() {
  const writes = packets.filter(({ links }) => links?.w);
  if (writes.length === 0) return;
  const section = document.getElementById("writes");
  const groups = [];
  for (let from = 0; from < writes.length; from += WRITES) groups.push(writes.slice(from, from + WRITES));
  section.append(h("h2", { id: "writes-title" }, "Writes"), h("p", { class: "note" }, counted(writes.length, "directive")),
    some(groups, 1, (group) => h("div", { class: "wide", role: "region", tabindex: "0", "aria-label": "Writes, table" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Directive", "Tool", "Decision", "Token", "Result"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, group.map(writeRow))))));
  section.hidden = false;
}

function writeRow(packet) {
  const refers = (label) => outgoing(packet).find((reference) => reference.label === label);
  const named = (reference) => reference && (reference.to ? packetLink(reference.to) : [visible(reference.id), " ", h("span", { class: "tag bad" }, "not found")]);
  const result = incoming(packet).find(({ label }) => label === "directive")?.from;
  return h("tr", {},
    h("td", {}, packetLink(packet), packet.accepted || [" ", h("span", { class: "tag bad" }, "rejected")], h("br"), h("span", { class: "dim" }, logs.length > 1 && [visible(packet.episode.logName), ", "], `line ${number(packet.line)}`)),
    h("td", {}, packet.links.o && visible(packet.links.o)),
    h("td", {}, named(refers("decision"))),
    h("td", {}, named(refers("token")) ?? h("span", { class: "tag bad" }, "none")),
    h("td", {}, result ? [packetLink(result), h("br"), h("span", { class: "dim" }, visible(result.brief))] : h("span", { class: "tag warned" }, "none")));
}

function packetLink(packet) {
  return h("a", { href: address(packet.episode, packet) }, visible(packet.id ?? `line ${packet.line}`));
}

// A notice that the report does not contain what the address names.
export function showUnknown(text) {
  document.getElementById(":unknown")?.remove();
  if (text) document.getElementById("main").prepend(h("p", { id: ":unknown", class: "unknown", role: "status" }, "The report has nothing at this address: ", cut(text, 120)));
}
