// Texts from logs: invisible characters are made visible, and long texts are cut, with a button that shows all.
import { h, number } from "./dom.js";

// Control characters, line separators, and characters that change the writing direction, join others, or are invisible.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

// A text as a node that cannot affect the text around it.
export function visible(text) {
  const bdi = h("bdi");
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    bdi.append(text.slice(from, match.index), h("span", { class: "unseen" }, picture(match[0])));
    from = match.index + match[0].length;
  }
  bdi.append(from === 0 ? text : text.slice(from));
  return bdi;
}

function picture(character) {
  const code = character.codePointAt(0);
  return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `\\u{${code.toString(16)}}`;
}

// The position at or before `at` that does not split a surrogate pair.
export function boundary(text, at) {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code < 0xdc00 ? at - 1 : at;
}

// A text of any length: if it is long, its beginning and a button that shows all.
export function cut(text, most = 400) {
  if (text.length <= most) return visible(text);
  const all = h("button", { type: "button", class: "inline" }, `show all ${number(text.length)} characters`);
  const box = h("span", { class: "cut" }, visible(text.slice(0, boundary(text, most))), "… ", all);
  all.addEventListener("click", () => box.replaceChildren(h("span", { class: "whole", tabindex: "0", role: "region", "aria-label": "Full text" }, visible(text))));
  return box;
}

// The part of a text around a span, with the span marked.
export function excerpt(text, span, around = 60) {
  const [start, end] = span;
  const from = boundary(text, Math.max(0, start - around));
  const stop = Math.min(end, boundary(text, start + 2 * around));
  const to = boundary(text, Math.min(text.length, stop + around));
  return h("code", { class: "excerpt" },
    from > 0 && "…", visible(text.slice(from, start)), h("mark", {}, visible(text.slice(start, stop)), stop < end && "…"),
    stop === end && visible(text.slice(end, to)), to < text.length && "…");
}

export function clock(time) {
  const text = new Date(time).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}${time % 1000 ? text.slice(19, 23) : ""} UTC`;
}

// A duration in at most two units.
export function span(milliseconds) {
  const sign = milliseconds < 0 ? "−" : "";
  let rest = Math.abs(milliseconds);
  if (rest < 1000) return `${sign}${rest} ms`;
  const parts = [];
  for (const [unit, size] of [["d", 86400000], ["h", 3600000], ["min", 60000], ["s", 1000]]) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return sign + parts.join(" ");
}
