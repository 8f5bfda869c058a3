// Addresses within the report: `#episode/packet`. Names that begin with a colon are reserved for the report itself.
import { byKey } from "./data.js";

// Address of the overview. A report on a single episode opens on the episode.
export const OVERVIEW = "#:overview";

export function address(episode, packet) {
  return packet ? `#${episode.key}/${packet.key}` : `#${episode.key}`;
}

// Returns what the address names: an episode and perhaps a packet, a section of the overview, or nothing.
export function route() {
  const hash = location.hash.slice(1);
  const [key, rest] = hash.split("/", 2);
  const episode = byKey.get(key) ?? byKey.get(encoded(key));
  if (!episode) return { place: hash.startsWith(":") ? hash : null, unknown: hash !== "" && !hash.startsWith(":") ? hash : null };
  if (!rest) return { episode };
  const line = rest.startsWith(":") ? Number(rest.slice(1)) : null;
  const packet = line === null ? episode.byId.get(decoded(rest)) : episode.packets.find((packet) => packet.line === line);
  return { episode, packet, unknown: packet ? null : rest };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// An address typed by hand may not be percent-encoded.
function encoded(text) {
  return encodeURIComponent(decoded(text));
}

// Goes to an address. With `replace`, for small steps, the history gets no new entry.
export function go(to, replace = false) {
  if (location.hash === to) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  dispatchEvent(new Event("routed"));
}
