// How the packets of an episode refer to each other: decision, token, directive, result.

const known = new WeakMap();

// References within an episode, in both directions: lists of `{ label, id, from, to, step }` by packet.
function references(episode) {
  if (known.has(episode)) return known.get(episode);
  const defined = new Map();
  const [out, into] = [new Map(), new Map()];
  const add = (map, key, value) => map.get(key)?.push(value) ?? map.set(key, [value]);
  for (const packet of episode.packets) {
    for (const { l: label, k: kind, i: id, c: step } of packet.links?.r ?? []) {
      const to = kind === "packet" ? episode.byId.get(id) : (defined.get(`${kind} ${id}`) ?? null);
      const reference = { label, id, from: packet, to: to === packet ? null : to, step: step === true };
      add(out, packet, reference);
      if (reference.to) add(into, reference.to, reference);
    }
    for (const [kind, id] of packet.links?.d ?? []) if (packet.accepted || !defined.has(`${kind} ${id}`)) defined.set(`${kind} ${id}`, packet);
  }
  const found = { out, into };
  known.set(episode, found);
  return found;
}

export function outgoing(packet) {
  return references(packet.episode).out.get(packet) ?? [];
}

export function incoming(packet) {
  return references(packet.episode).into.get(packet) ?? [];
}

// Packets on the path from a decision to its results that contains a given packet, in the order of the log.
export function chain(packet) {
  const found = new Set([packet]);
  const walk = (from, next) => {
    for (const other of next(from)) {
      if (found.has(other) || found.size > 200) continue;
      found.add(other);
      walk(other, next);
    }
  };
  walk(packet, (from) => outgoing(from).filter(({ step, to }) => step && to).map(({ to }) => to));
  walk(packet, (from) => incoming(from).filter(({ step }) => step).map(({ from }) => from));
  return found.size === 1 ? [] : [...found].sort((a, b) => a.index - b.index);
}

// Tokens and tasks, each from the packet that defines it to the last packet that refers to it.
export function bars(episode) {
  const found = [];
  for (const packet of episode.packets) {
    for (const [kind, id, due] of packet.links?.d ?? []) {
      if (!packet.accepted) continue;
      const users = incoming(packet).filter(({ from }) => from.accepted).map(({ from }) => from);
      found.push({ kind, id, from: packet, to: users.at(-1) ?? null, open: due && users.length === 0 });
    }
  }
  return found;
}
