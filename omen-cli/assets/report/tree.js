// A packet as a tree, collapsed except for the positions of findings.
import { counted, h, some } from "./dom.js";
import { cut, excerpt, visible } from "./text.js";
import { parse, path } from "./json.js";

// Texts with more characters than this are shown as plain text.
const LARGEST = 4000000;

export function tree(text, marks) {
  let root = null;
  try {
    root = text.length <= LARGEST ? parse(text) : null;
  } catch {
    // Not JSON: shown as plain text.
  }
  if (root === null || root.kind === "v") return plain(text, marks);
  const open = new Set();
  const marked = new Map();
  for (const mark of marks) {
    const nodes = path(root, mark.span);
    nodes.forEach((node) => open.add(node));
    const target = nodes.at(-1);
    marked.set(target, [...(marked.get(target) ?? []), mark]);
  }
  // Header and payload describe the packet; the envelope stays collapsed.
  if (marks.length === 0) root.children.forEach((child, index) => index !== 1 && open.add(child));
  open.add(root);
  return h("div", { class: "tree" }, view(text, root, open, marked));
}

function plain(text, marks) {
  const box = h("div", { class: "plain-text" });
  for (const mark of marks) box.append(h("p", {}, excerpt(text, mark.span, 200), " ", label(mark)));
  box.append(h("p", {}, h("code", {}, cut(text, 1000))));
  return box;
}

function label(mark) {
  return mark.label ? h("span", { class: "label" }, visible(mark.label)) : null;
}

function view(text, node, open, marked) {
  const marks = marked.get(node);
  const key = node.key && h("span", { class: "key" }, cut(text.slice(node.key[0] + 1, node.key[1] - 1), 120));
  const name = key && [key, ": "];
  const labels = marks?.map(label) ?? [];
  if (node.kind === "v") {
    const value = h(marks ? "mark" : "span", { class: `value ${kind(text[node.start])}` }, cut(text.slice(node.start, node.end)));
    return h("div", { class: marks ? "leaf marked" : "leaf" }, name, value, " ", labels);
  }
  const [begin, end] = node.kind === "{" ? ["{", "}"] : ["[", "]"];
  if (node.children.length === 0) return h("div", { class: "leaf" }, name, h(marks ? "mark" : "span", {}, begin + end), " ", labels);
  const size = counted(node.children.length, node.kind === "{" ? "field" : "item");
  const summary = h("summary", {}, name, h(marks ? "mark" : "span", { class: "size" }, `${begin}${size}${end}`), " ", labels);
  const details = h("details", { open: open.has(node) }, summary);
  const show = () => {
    if (details.childElementCount === 1) details.append(some(node.children, 200, (child) => view(text, child, open, marked)));
  };
  if (open.has(node)) show();
  else details.addEventListener("toggle", show, { once: true });
  return details;
}

function kind(first) {
  if (first === '"') return "text";
  return "-0123456789".includes(first) ? "number" : "word";
}
