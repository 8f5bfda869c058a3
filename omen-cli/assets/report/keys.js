// The keyboard: single keys outside of fields.
import { h } from "./dom.js";
import { findings } from "./data.js";
import { OVERVIEW, address, go } from "./route.js";
import { current, select } from "./episode.js";
import { neighbours, search } from "./side.js";

const KEYS = [
  ["/", "search the episodes", () => search.focus()],
  ["j", "the next packet", () => step(1)],
  ["k", "the packet before", () => step(-1)],
  ["n", "the next finding", () => find(1)],
  ["p", "the finding before", () => find(-1)],
  ["]", "the next episode", () => leap("next")],
  ["[", "the episode before", () => leap("previous")],
  ["o", "the overview", () => go(OVERVIEW)],
  ["?", "this help", () => help.showModal()],
];

const help = h("dialog", { "aria-labelledby": ":keys" }, h("h2", { id: ":keys" }, "Keys"),
  h("dl", { class: "facts" }, KEYS.map(([key, text]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, text))),
    h("div", {}, h("dt", {}, h("kbd", {}, "← →")), h("dd", {}, "in the timeline: from packet to packet")),
    h("div", {}, h("dt", {}, h("kbd", {}, "↑ ↓")), h("dd", {}, "in a list: from row to row; Enter opens"))),
  h("form", { method: "dialog" }, h("button", {}, "Close")));

function step(by) {
  const { episode, packet } = current;
  const next = episode?.packets[episode.packets.indexOf(packet) + by];
  if (next) select(next, true);
}

// From finding to finding, across episodes, in the order of the logs.
function find(by) {
  const found = findings.filter(({ packet }) => packet);
  const here = current.packet?.index ?? (by > 0 ? -1 : Infinity);
  const next = by > 0 ? found.find(({ packet }) => packet.index > here) : found.findLast(({ packet }) => packet.index < here);
  if (next) select(next.packet, false);
}

function leap(to) {
  const episode = neighbours(current.episode)[to];
  if (episode) go(address(episode));
}

export function listen() {
  document.body.append(help);
  document.getElementById("side").append(h("p", { class: "keys" }, h("button", { type: "button", onclick: () => help.showModal() }, "Keys ", h("kbd", {}, "?"))));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target.closest("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const found = KEYS.find(([key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found[2]();
  });
}
