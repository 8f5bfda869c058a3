// One episode: timeline, packets, the selected packet, and the path through the states.
import { counted, h, number } from "./dom.js";
import { clock, span, visible } from "./text.js";
import { tables } from "./data.js";
import { OVERVIEW, address, go } from "./route.js";
import { card } from "./finding.js";
import { List } from "./list.js";
import { budgets, timeline } from "./timeline.js";
import { diagram } from "./diagram.js";
import { packetPanel, stateNames, title } from "./packet.js";

const section = document.getElementById("episode");
// Maximum number of packets that are printed.
const PRINTED = 200;

export const current = { episode: null, packet: null };

const packetList = new List({
  label: "Packets of the episode", height: 44, follows: true,
  row: (packet) => [
    h("span", { class: "line" }, number(packet.line)),
    h("span", { class: `dot ${packet.tone}`, title: packet.accepted ? "accepted" : "rejected" }, packet.tone === "bad" ? "✕" : packet.tone === "warned" ? "▲" : "●"),
    h("span", { class: "main" }, h("span", { class: "one" }, packet.typeName, marks(packet)),
      h("span", { class: "two" }, visible(title(packet)), packet.brief && [" · ", visible(packet.brief)])),
  ],
  pick: (packet) => select(packet, true),
});

const slots = { head: h("div"), ends: h("div"), timeline: h("div"), packet: h("div", { class: "slot" }), diagram: h("div"), print: h("div", { class: "print-only" }) };
section.append(slots.head, slots.ends, slots.timeline, h("div", { class: "columns" }, packetList.element, slots.packet), slots.diagram, slots.print);

export function select(packet, replace) {
  go(address(packet.episode, packet), replace);
}

export function showEpisode(episode, packet, { previous, next }) {
  const isOther = current.episode !== episode;
  const selected = packet ?? episode.packets.find(({ tone }) => tone === "bad") ?? episode.packets.find(({ tone }) => tone === "warned") ?? episode.packets[0] ?? null;
  const hadFocus = slots.timeline.contains(document.activeElement);
  Object.assign(current, { episode, packet: selected });
  section.hidden = false;
  if (isOther) {
    slots.head.replaceChildren(...head(episode, previous, next));
    slots.ends.replaceChildren(...ends(episode));
    slots.diagram.replaceChildren(...(episode.end.length > 0 ? [diagram(episode)] : []));
    slots.print.replaceChildren();
    packetList.show(episode.packets);
  }
  packetList.choose(selected);
  // Lines without an episode have no states.
  const picture = episode.end.length > 0 ? timeline(episode, selected, (picked) => select(picked, true)) : null;
  slots.timeline.replaceChildren(...(picture ? [picture.element] : []));
  picture?.reveal();
  if (hadFocus) picture?.focus();
  const uses = selected && budgets(episode)[episode.packets.indexOf(selected)];
  slots.packet.replaceChildren(...(selected ? [packetPanel(selected, uses)] : [h("p", { class: "note" }, "No packet of this episode is shown.")]));
}

// Findings that belong to no packet of this episode. Causes come first, even those in another episode, each with its consequences.
function ends({ loose, findings, packets }) {
  const causes = [...new Set(findings.map(({ root }) => root).filter((root) => root && (loose.some((one) => one.root === root) || !packets.includes(root.packet))))];
  return [...causes.map((root) => card(root, true)), ...loose.filter(({ root }) => !root).map((finding) => card(finding, false))];
}

// Codes of a packet's findings, or the lines that they follow from.
function marks({ findings }) {
  if (findings.length === 0) return null;
  const causes = findings.map(({ from }) => from);
  if (causes.every((from) => from !== undefined)) return h("span", { class: "follows" }, ` follows from line ${[...new Set(causes)].join(", ")}`);
  return h("span", { class: "code" }, ` ${[...new Set(findings.filter(({ from }) => from === undefined).map(({ code }) => code))].join(", ")}`);
}

export function hideEpisode() {
  section.hidden = true;
  current.episode = null;
  current.packet = null;
}

function head(episode, previous, next) {
  const times = episode.packets.map(({ time }) => time).filter((time) => time !== null);
  const step = (other, text) => (other ? h("a", { class: "step", href: address(other) }, text) : h("span", { class: "step dim", "aria-hidden": "true" }, text));
  const [first, last] = [times[0], times.at(-1)];
  const end = episode.end.map((state) => tables.states[state][0]).join(" or ");
  return [
    h("p", { class: "steps" }, h("a", { class: "step", href: OVERVIEW }, "Overview"), step(previous, "Previous episode"), step(next, "Next episode")),
    h("h2", { tabindex: "-1" }, visible(episode.name)),
    h("p", { class: "under" }, h("span", { class: `tag ${episode.tone}` }, episode.errors > 0 ? counted(episode.errors, "error") : episode.warnings > 0 ? counted(episode.warnings, "warning") : "no findings"),
      ` ${counted(episode.packets.length, "packet")}, ${number(episode.rejected)} rejected`, end && ` · ends in ${end}`,
      times.length > 0 && ` · ${clock(first)}${last > first ? `, ${span(last - first)}` : ""}`, " · ", visible(episode.logName)),
  ];
}

// Nothing can be expanded on paper, so all packets are printed, one below the other.
addEventListener("beforeprint", () => {
  const { episode } = current;
  if (!episode) return;
  slots.print.replaceChildren(h("h3", {}, "Packets"), ...episode.packets.slice(0, PRINTED).map((packet) => h("div", { class: "printed" },
    h("p", {}, h("b", {}, `${number(packet.line)} ${packet.accepted ? "accepted" : "rejected"} `), packet.typeName, " ", visible(title(packet)), packet.brief && [" · ", visible(packet.brief)], ` · ${stateNames(packet.before)}`, packet.accepted && packet.after.join() !== packet.before.join() && ` → ${stateNames(packet.after)}`),
    packet.findings.map((finding) => card(finding, true)))),
    ...(episode.packets.length > PRINTED ? [h("p", {}, `${counted(episode.packets.length - PRINTED, "more packet")}, not printed.`)] : []));
});
