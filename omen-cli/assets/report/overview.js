// The overview: what was rejected comes first.
import { counted, h, some } from "./dom.js";
import { cut } from "./text.js";
import { roots } from "./data.js";
import { card } from "./finding.js";

const box = document.getElementById("rejected");
const AT_ONCE = 20;

export function showFindings() {
  const errors = roots.filter(({ sev }) => sev === "error");
  const warnings = roots.filter(({ sev }) => sev !== "error");
  const part = (title, id, found) => [h("h2", { id }, title), h("p", { class: "note" }, counted(found.length, "finding")), some(found, AT_ONCE, (finding) => card(finding, true))];
  if (errors.length > 0) box.append(...part("Rejected packets and open ends", "rejected-title", errors));
  else box.append(h("h2", { id: "rejected-title" }, "Rejected packets"), h("p", {}, "None."));
  if (warnings.length > 0) box.append(...part("Warnings", "warnings-title", warnings));
}

// What the address names and the report does not have.
export function showUnknown(text) {
  document.getElementById(":unknown")?.remove();
  if (text) document.getElementById("main").prepend(h("p", { id: ":unknown", class: "unknown", role: "status" }, "The report has nothing at this address: ", cut(text, 120)));
}
