// The data of the report: the JSON that the command has written, as objects that refer to each other.

const block = document.getElementById(":data");
const raw = JSON.parse(block.textContent);
// The text is not needed after it is parsed.
block.remove();

export const tables = raw.tables;
export const logs = raw.logs;
// Names of the logs, without the directories that all of them share.
export const logNames = shortened(raw.logs);
// Entries of the audit log; undefined if there is none.
export const calls = raw.calls;

const pieces = raw.pieces;

class Packet {
  constructor(row, index) {
    [this.number, this.line, this.id, this.type, this.layer, this.time, this.before, this.after, this.event] = row;
    [, this.brief, this.pieces, this.links] = row.slice(9);
    this.accepted = row[9] === 1;
    this.index = index;
    this.findings = [];
  }
  get episode() {
    return episodes[this.number];
  }
  get typeName() {
    if (this.type !== null) return tables.types[this.type];
    return this.id === null ? "Unreadable line" : "Unknown packet type";
  }
  get eventName() {
    return this.event === null ? null : tables.events[this.event][1];
  }
  // The packet's line in the log; null if it was left out.
  get text() {
    return this.pieces && this.pieces.map((piece) => pieces[piece]).join("");
  }
  // Its name in an address: its id, or its line number if the id is missing or repeated.
  get key() {
    return this.id !== null && this.episode.byId.get(this.id) === this ? encodeURIComponent(this.id) : `:${this.line}`;
  }
  // Severity of its worst finding.
  get tone() {
    if (!this.accepted) return "bad";
    return this.findings.length > 0 ? "warned" : "good";
  }
}

class Episode {
  constructor([log, id], number) {
    Object.assign(this, { log, id, number, packets: [], findings: [], byId: new Map(), errors: 0, warnings: 0, rejected: 0 });
  }
  get name() {
    return this.id ?? "Lines without an episode";
  }
  get logName() {
    return logNames[this.log];
  }
  get tone() {
    if (this.errors > 0) return "bad";
    return this.warnings > 0 ? "warned" : "good";
  }
  // Possible states after its last packet.
  get end() {
    const last = this.packets.findLast((packet) => packet.after.length > 0);
    return last ? states(last.after) : [];
  }
  // Findings at the end of the log, without a packet.
  get loose() {
    return this.findings.filter((finding) => !finding.packet);
  }
}

function shortened(names) {
  const folders = names.map((name) => name.split("/").slice(0, -1));
  let same = 0;
  while (names.length > 1 && folders.every((folder) => folder.length > same && folder[same] === folders[0][same])) same += 1;
  return names.map((name) => name.split("/").slice(same).join("/"));
}

// States of some nodes, without duplicates.
export function states(nodes) {
  return [...new Set(nodes.map((node) => tables.nodes[node][1]))];
}

export const episodes = raw.episodes.map((row, number) => new Episode(row, number));
export const packets = raw.packets.map((row, index) => new Packet(row, index));
export const findings = raw.findings;
export const byKey = new Map();

for (const packet of packets) {
  const episode = packet.episode;
  episode.packets.push(packet);
  if (!packet.accepted) episode.rejected += 1;
  if (packet.id !== null && !episode.byId.has(packet.id)) episode.byId.set(packet.id, packet);
}
findings.forEach((finding, index) => {
  finding.index = index;
  finding.episode = episodes[finding.e];
  finding.packet = finding.p === undefined || finding.p === null ? null : packets[finding.p];
  finding.consequences = [];
  finding.episode.findings.push(finding);
  finding.episode[finding.sev === "error" ? "errors" : "warnings"] += 1;
  finding.packet?.findings.push(finding);
});
for (const episode of episodes) {
  const key = episode.id === null ? ":none" : encodeURIComponent(episode.id);
  // The same id in another log is a different episode.
  let unique = key;
  for (let count = 2; byKey.has(unique); count += 1) unique = `${key}@${count}`;
  episode.key = unique;
  byKey.set(unique, episode);
}
// A consequence is listed under the first finding of the packet that it follows from, which may have no episode.
const first = new Map();
const placed = (finding, line) => `${finding.episode.log}:${line}`;
for (const finding of findings) {
  const key = placed(finding, finding.line);
  if (finding.from === undefined && !first.has(key)) first.set(key, finding);
}
for (const finding of findings) {
  finding.root = finding.from === undefined ? null : (first.get(placed(finding, finding.from)) ?? null);
  finding.root?.consequences.push(finding);
}

// Findings that are not consequences: errors before warnings, each in the order of the logs.
export const roots = ["error", "warning"].flatMap((severity) => findings.filter((finding) => finding.sev === severity && !finding.root));
