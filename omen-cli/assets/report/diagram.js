// Diagram of the states, with the transitions of the table as arcs. Those that the episode took are drawn on top.
import { counted, h, number, svg } from "./dom.js";
import { states, tables } from "./data.js";

const LINE = 30;
const MIDDLE = 150;
const WIDE = 300;

// Transitions that accepted packets took: source state, target state, and counts by event.
function taken(episode) {
  const found = new Map();
  const rows = new Map(tables.rows.map((row) => [row.join(), row]));
  for (const packet of episode.packets) {
    if (!packet.accepted || packet.event === null) continue;
    const steps = new Set();
    for (const from of packet.before) {
      for (const to of packet.after) if (rows.has([from, packet.event, to].join())) steps.add([states([from])[0], states([to])[0]].join());
    }
    for (const step of steps) {
      const [from, to] = step.split(",").map(Number);
      const edge = found.get(step) ?? { from, to, count: 0, events: new Map() };
      edge.count += 1;
      edge.events.set(packet.event, (edge.events.get(packet.event) ?? 0) + 1);
      found.set(step, edge);
    }
  }
  return [...found.values()];
}

export function diagram(episode) {
  const path = taken(episode);
  const again = new Map(path.filter(({ from, to }) => from === to).map(({ from, count }) => [from, count]));
  const seen = new Set(path.flatMap(({ from, to }) => [from, to]));
  const end = new Set(episode.end);
  const y = (state) => 16 + state * LINE;
  const all = new Set(tables.rows.map(([from, , to]) => [tables.nodes[from][1], tables.nodes[to][1]]).filter(([from, to]) => from !== to).map(String));
  const arc = (from, to) => {
    // Forward transitions on the right, backward ones on the left.
    const side = to > from ? 1 : -1;
    const x = MIDDLE + side * 66;
    const wide = Math.min(MIDDLE - 76, 14 + Math.abs(to - from) * 11) * side;
    return `M${x} ${y(from)}C${x + wide * 1.35} ${y(from)} ${x + wide * 1.35} ${y(to)} ${x} ${y(to)}`;
  };
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${16 + tables.states.length * LINE}`, role: "img", "aria-label": `State diagram: ${counted(path.length, "transition")} taken` });
  for (const edge of all) picture.append(svg("path", { class: "edge", d: arc(...edge.split(",").map(Number)) }));
  tables.states.forEach(([name, meaning], index) => picture.append(svg("g", { class: end.has(index) ? "state end" : seen.has(index) ? "state seen" : "state" },
    svg("title", {}, `${name}: ${meaning}`), svg("rect", { x: MIDDLE - 62, y: y(index) - 10, width: 124, height: 20, rx: 10 }),
    svg("text", { x: MIDDLE, y: y(index) + 4, "text-anchor": "middle" }, name, again.get(index) && ` ↻${again.get(index)}`))));
  for (const { from, to, count, events } of path) {
    const title = svg("title", {}, [...events].map(([event, times]) => `${tables.events[event][1]}: ${times}`).join("\n"));
    if (from !== to) picture.append(svg("g", {}, title, svg("path", { class: "edge taken", d: arc(from, to), "stroke-width": 1.5 + Math.min(2.5, Math.log2(count)) }), arrowhead(from, to, y)));
  }
  const rows = path.map(({ from, to, count, events }) => h("tr", {}, h("td", {}, tables.states[from][0]), h("td", {}, tables.states[to][0]),
    h("td", {}, [...events.keys()].map((event) => tables.events[event][1]).join("; ")), h("td", { class: "n" }, number(count))));
  return h("figure", { class: "diagram" },
    h("figcaption", {}, h("b", {}, "States"), " The path taken; the other transitions are faint. The episode ends in the filled state."),
    picture,
    h("details", {}, h("summary", {}, "The path as a table"), h("table", {}, h("thead", {}, h("tr", {}, ["From", "To", "By"].map((text) => h("th", { scope: "col" }, text)), h("th", { scope: "col", class: "n" }, "Times"))), h("tbody", {}, rows))));
}

function arrowhead(from, to, y) {
  const side = to > from ? 1 : -1;
  const x = MIDDLE + side * 63;
  return svg("path", { class: "head", d: `M${x} ${y(to)}l${7 * side} -4v8z` });
}
