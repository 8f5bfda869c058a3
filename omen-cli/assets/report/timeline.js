// Timeline of an episode: its packets and states, budgets, and the lifetimes of tokens and tasks.
import { counted, h, number, svg } from "./dom.js";
import { clock, span, visible } from "./text.js";
import { states, tables } from "./data.js";
import { bars, chain } from "./links.js";

const LEAST = 30;
const ROW = 22;
const TOP = 8;
const STRIP = 46;
const BAR = 18;
const LEFT = 124;
// Maximum numbers of packets in one picture, and of rows of bars below it.
const MOST = 150;
const MOST_BARS = 14;
const BUDGETS = ["tokens", "tool calls", "seconds"];

let column = LEAST;

// Use of the budgets after each packet; null before they are set.
export function budgets(episode) {
  let [limits, used, since] = [null, [0, 0, 0], null];
  return episode.packets.map((packet) => {
    if (packet.accepted && packet.links?.b) [limits, since] = [packet.links.b, packet.time];
    if (limits && packet.accepted) {
      const spent = packet.links?.s ?? [0, 0];
      const passed = Math.max(used[2], (packet.time - since) / 1000);
      used = [used[0] + spent[0], used[1] + spent[1], passed];
    }
    return limits && BUDGETS.map((name, index) => ({ name, used: used[index], limit: limits[index] }));
  });
}

export function timeline(episode, selected, pick) {
  const all = episode.packets;
  const at = Math.max(0, all.indexOf(selected));
  const from = all.length <= MOST ? 0 : Math.max(0, Math.min(all.length - MOST, at - Math.floor(MOST / 2)));
  const shown = all.slice(from, from + MOST);
  // If there are few packets, they use the full width.
  column = Math.max(LEAST, Math.min(64, (document.getElementById("main").clientWidth - LEFT - 90) / shown.length));
  const linked = new Set(selected ? chain(selected) : []);
  const x = (packet) => (all.indexOf(packet, from) - from + 0.5) * column;
  const y = (state) => TOP + (state + 0.5) * ROW;
  const height = TOP + tables.states.length * ROW;
  const width = Math.max(shown.length * column, 60);
  const lanes = layout(bars(episode), shown, from, all);
  const total = height + 22 + STRIP + lanes.length * BAR + 8;

  const left = svg("svg", { class: "left", width: LEFT, height: total, "aria-hidden": "true" },
    tables.states.map(([name], index) => svg("text", { x: LEFT - 8, y: y(index) + 4, "text-anchor": "end" }, name)),
    svg("text", { x: LEFT - 8, y: height + 14, "text-anchor": "end", class: "dim" }, "time"),
    BUDGETS.map((name, index) => [
      svg("text", { x: LEFT - 34, y: height + 36 + index * 13, "text-anchor": "end", class: "dim" }, name),
      svg("line", { x1: LEFT - 28, x2: LEFT - 8, y1: height + 32 + index * 13, y2: height + 32 + index * 13, class: `use use-${index}` }),
    ]));
  const picture = svg("svg", { class: "right", width, height: total, "aria-hidden": "true" });
  tables.states.forEach((_, index) => index % 2 === 0 && picture.append(svg("rect", { class: "band", x: 0, y: TOP + index * ROW, width, height: ROW })));
  if (shown.includes(selected)) picture.append(svg("rect", { class: "column", x: x(selected) - column / 2, y: 0, width: column, height: total }));

  let before = null;
  let ticks = 0;
  const start = all.find((packet) => packet.time !== null)?.time ?? null;
  shown.forEach((packet, index) => {
    const here = states(packet.accepted ? packet.after : packet.before);
    const were = states(packet.before);
    const right = (index + 0.5) * column;
    for (const state of were) {
      if (index > 0 || from > 0) picture.append(svg("path", { class: were.length > 1 ? "path faint" : "path", d: `M${right - column} ${y(state)}H${right}` }));
      if (packet.accepted) for (const to of here) if (to !== state) picture.append(svg("path", { class: here.length > 1 || were.length > 1 ? "path faint" : "path", d: `M${right} ${y(state)}V${y(to)}` }));
    }
    const place = here.length > 0 ? here : (before ?? [0]);
    before = place;
    for (const state of place) picture.append(dot(packet, right, y(state), linked.has(packet)));
    if (start !== null && packet.time !== null && index % 3 === 0) {
      ticks += 1;
      picture.append(svg("text", { class: "dim tick", x: right, y: height + 14, "text-anchor": ticks === 1 ? "start" : right + 40 > width ? "end" : "middle", dx: ticks === 1 ? -column / 2 + 2 : right + 40 > width ? column / 2 : 0 }, packet.time === start ? "0" : `+${span(packet.time - start)}`));
    }
  });
  picture.append(strip(budgets(episode).slice(from, from + MOST), height + 22, width));
  lanes.forEach((lane, index) => picture.append(...lane.map((bar) => draw(bar, height + 22 + STRIP + 4 + index * BAR, x, width, shown, linked))));
  shown.forEach((packet, index) => picture.append(svg("rect", {
    class: "hit", x: index * column, y: 0, width: column, height: total,
    onclick: () => pick(packet), onmouseenter: (event) => hint(event, packet), onmouseleave: () => tip.remove(),
  })));

  const box = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Timeline; the arrow keys select the previous or next packet" }, picture);
  box.addEventListener("keydown", (event) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey || !all[to]) return;
    event.preventDefault();
    pick(all[selected ? to : 0]);
  });
  const cutOff = all.length > shown.length && h("p", { class: "note" }, `Packets ${number(from + 1)} to ${number(from + shown.length)} of ${number(all.length)}. `,
    from > 0 && h("button", { type: "button", onclick: () => pick(all[Math.max(0, at - MOST)]) }, "Earlier"), " ",
    from + MOST < all.length && h("button", { type: "button", onclick: () => pick(all[Math.min(all.length - 1, at + MOST)]) }, "Later"));
  const rejected = all.filter((packet) => !packet.accepted).length;
  return {
    element: h("figure", { class: "timeline" },
      h("figcaption", {}, h("b", {}, "Timeline"), ` ${counted(all.length, "packet")}, ${number(rejected)} rejected. `, legend()),
      h("div", { class: "chart" }, left, box), cutOff),
    // Scrolls the selected packet into view. The element must be in the page.
    reveal: () => {
      if (selected && shown.includes(selected)) box.scrollLeft = Math.max(0, x(selected) - box.clientWidth / 2);
    },
    focus: () => box.focus({ preventScroll: true }),
    has: (element) => element === box,
  };
}

function legend() {
  const item = (tone, text) => h("span", { class: "item" }, svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, mark(tone, 7, 7)), ` ${text} `);
  return h("span", { class: "legend" }, item("good", "accepted"), item("warned", "with a warning"), item("bad", "rejected"));
}

// Marks differ in shape, not only in colour.
function mark(tone, x, y) {
  if (tone === "bad") return svg("path", { class: "dot bad", d: `M${x - 4.5} ${y - 4.5}l9 9m0 -9l-9 9` });
  if (tone === "warned") return svg("path", { class: "dot warned", d: `M${x} ${y - 6}l6 11h-12z` });
  return svg("circle", { class: "dot good", cx: x, cy: y, r: 4.5 });
}

function dot(packet, x, y, linked) {
  return svg("g", { class: linked ? "linked" : null }, linked && svg("circle", { class: "ring", cx: x, cy: y, r: 9 }), mark(packet.tone, x, y));
}

function strip(uses, top, width) {
  const bottom = top + STRIP - 6;
  const most = Math.max(1, ...uses.flatMap((use) => (use ?? []).map(({ used, limit }) => used / limit)));
  const level = (part) => bottom - (part / most) * (STRIP - 12);
  const lines = BUDGETS.map((_, which) => {
    const points = uses.map((use, index) => use && `${(index + 0.5) * column} ${level(use[which].used / use[which].limit)}`).filter(Boolean);
    return points.length > 0 && svg("polyline", { class: `use use-${which}`, points: points.join(" ") });
  });
  return svg("g", {}, svg("line", { class: "base", x1: 0, x2: width, y1: bottom, y2: bottom }),
    uses.some(Boolean) && svg("line", { class: "limit", x1: 0, x2: width, y1: level(1), y2: level(1) }), lines.filter(Boolean));
}

// Assigns bars to the first lane with room for them.
function layout(found, shown, from, all) {
  const lanes = [];
  const last = shown.length;
  for (const bar of found) {
    const begin = all.indexOf(bar.from) - from;
    const end = bar.to ? all.indexOf(bar.to) - from : bar.open ? last : begin;
    if (end < 0 || begin >= last) continue;
    // Its name also needs room.
    const room = end + Math.ceil((bar.id.length * 6.5) / column) + 1;
    const lane = lanes.find((lane) => lane.free <= begin);
    if (lane) {
      lane.push(bar);
      lane.free = room;
    } else if (lanes.length < MOST_BARS) {
      lanes.push(Object.assign([bar], { free: room }));
    }
  }
  return lanes;
}

function draw(bar, y, x, width, shown, linked) {
  const begin = shown.includes(bar.from) ? x(bar.from) : 0;
  const end = bar.to ? (shown.includes(bar.to) ? x(bar.to) : width) : bar.open ? width : begin + 6;
  const tone = bar.open ? "open" : bar.kind;
  const id = bar.id.length > 40 ? `${bar.id.slice(0, 40)}…` : bar.id;
  return svg("g", { class: linked.has(bar.from) ? "bar linked" : "bar" },
    svg("rect", { class: `span ${tone}`, x: begin, y, width: Math.max(6, end - begin), height: BAR - 6, rx: 3 }),
    // A name that is longer than its bar is placed after the bar.
    svg("text", { x: end - begin < id.length * 6.5 + 8 ? Math.max(end, begin + 6) + 5 : begin + 5, y: y + 9.5 }, bar.open ? `${id} (no result)` : id));
}

const tip = h("div", { class: "tip", role: "presentation" });

function hint(event, packet) {
  tip.replaceChildren(h("b", {}, packet.typeName), h("br"), visible(packet.id ?? `line ${packet.line}`), h("br"),
    packet.eventName ?? "", packet.time === null ? "" : [h("br"), clock(packet.time)], !packet.accepted && [h("br"), "rejected"]);
  document.body.append(tip);
  const box = event.target.getBoundingClientRect();
  tip.style.left = `${Math.min(box.right + 6, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.max(8, Math.min(event.clientY + 12, innerHeight - tip.offsetHeight - 8))}px`;
}
