// A finding with its position, its help, the text of its rule, and its consequences.
import { counted, h } from "./dom.js";
import { cut, excerpt, visible } from "./text.js";
import { address } from "./route.js";

// The page contains each rule once, in the table of rules.
function rule(code) {
  const text = document.querySelector(`details.rule[data-code="${CSS.escape(code)}"] > .text`);
  return text && h("details", { class: "rule-text" }, h("summary", {}, "Rule ", h("span", { class: "code" }, code)), text.cloneNode(true), h("p", { class: "note" }, "With a rejected and a fixed example: ", h("code", {}, `omen explain ${code}`)));
}

export function codes(finding) {
  return h("span", { class: "codes" },
    h("span", { class: `tag ${finding.sev === "error" ? "bad" : "warned"}` }, finding.sev), " ",
    h("span", { class: "code" }, [finding.code, ...(finding.also ?? [])].join(", ")));
}

export function place(finding) {
  const { packet, episode } = finding;
  const log = visible(episode.logName);
  if (!packet) return h("a", { href: address(episode) }, log, ", end of the log");
  return h("a", { href: address(episode, packet) }, log, `, line ${packet.line}`, finding.col ? `, column ${finding.col}` : "");
}

// The cause of a finding: the line of a rejected packet, with a link and its message if the report contains them.
export function cause({ from, root }) {
  if (from === undefined) return null;
  if (!root) return h("p", { class: "cause" }, `Follows from line ${from}`);
  const link = root.packet ? h("a", { href: address(root.packet.episode, root.packet) }, `line ${from}`) : `line ${from}`;
  return h("p", { class: "cause" }, "Follows from ", link, ": ", h("span", { class: "code" }, root.code), " ", cut(root.msg, 300));
}

// With `where`, the card names the packet, and shows the position in its text.
export function card(finding, where) {
  const { packet, episode } = finding;
  const text = where && packet && finding.span ? packet.text : null;
  return h("article", { class: `card ${finding.sev === "error" ? "bad" : "warned"}` },
    h("p", { class: "top" }, codes(finding), " ", h("span", { class: "place" }, place(finding))),
    h("p", { class: "message" }, cut(finding.msg, 600)),
    cause(finding),
    where && h("p", { class: "of" }, packet ? [visible(packet.id ?? "no packet id"), " · ", packet.typeName, " · "] : [finding.id && visible(finding.id), finding.id && " · "],
      h("a", { href: address(episode) }, visible(episode.name))),
    text && h("p", { class: "at" }, excerpt(text, finding.span), finding.label && [" ", h("span", { class: "label" }, visible(finding.label))]),
    !where && finding.ptr && h("p", { class: "pointer" }, h("code", {}, cut(finding.ptr, 200))),
    finding.help && h("p", { class: "help" }, h("b", {}, "Help "), cut(finding.help, 600)),
    (finding.notes ?? []).map((note) => h("p", { class: "help" }, h("b", {}, "Note "), cut(note, 600))),
    rule(finding.code),
    finding.consequences.length > 0 && h("details", { class: "consequences" },
      h("summary", {}, `${counted(finding.consequences.length, "more finding")} ${finding.consequences.length === 1 ? "follows" : "follow"} from it`),
      h("ul", {}, finding.consequences.map((one) => h("li", {}, codes(one), " ", place(one), " ", cut(one.msg, 300))))));
}
