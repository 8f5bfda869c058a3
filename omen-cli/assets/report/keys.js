// Keyboard shortcuts: single keys, outside of input fields.
import { h } from "./dom.js";
import { findings } from "./data.js";
import { OVERVIEW, address, go } from "./route.js";
import { current, select } from "./episode.js";
import { neighbours, search } from "./side.js";

const KEYS = [
  ["/", "search the episodes", () => search.focus()],
  ["j", "next packet", () => step(1)],
  ["k", "previous packet", () => step(-1)],
  ["n", "next finding", () => find(1)],
  ["p", "previous finding", () => find(-1)],
  ["]", "next episode", () => leap("next")],
  ["[", "previous episode", () => leap("previous")],
  ["o", "overview", () => go(OVERVIEW)],
  ["?", "this help", () => help.showModal()],
];

const help = h("dialog", { "aria-labelledby": ":keys" }, h("h2", { id: ":keys" }, "Keys"),
  h("dl", { class: "facts" }, KEYS.map(([key, text]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, text))),
    h("div", {}, h("dt", {}, h("kbd", {}, "← →")), h("dd", {}, "in the timeline: previous or next packet")),
    h("div", {}, h("dt", {}, h("kbd", {}, "↑ ↓")), h("dd", {}, "in a list: previous or next row; Enter opens it"))),
  h("form", { method: "dialog" }, h("button", {}, "Close")));

function step(by) {
  const { episode, packet } = current;
  const next = episode?.packets[episode.packets.indexOf(packet) + by];
  if (next) select(next, true);
}

// Selects the next or previous finding, across episodes, in the order of the logs.
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
