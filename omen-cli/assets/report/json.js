// Parses JSON into nodes that know their position in the text. Numbers and repeated names are kept as written.

const DEEPEST = 70;

// Returns a node: kind (`{`, `[` or `v`), start and end in the text, and children. `key` of a child is the span of its name, or null.
export function parse(text) {
  let at = 0;
  const blank = () => {
    while (at < text.length && " \t\r\n".includes(text[at])) at += 1;
  };
  const fail = () => {
    throw new SyntaxError(`unexpected text at ${at}`);
  };
  const string = () => {
    const start = at;
    for (at += 1; ; at += 1) {
      const quote = text.indexOf('"', at);
      if (quote < 0) fail();
      let slashes = 0;
      while (text[quote - 1 - slashes] === "\\") slashes += 1;
      at = quote;
      if (slashes % 2 === 0) break;
    }
    at += 1;
    return [start, at];
  };
  const scalar = /[^\s,\]}]+/y;
  const value = (depth) => {
    blank();
    const start = at;
    const open = text[at];
    if (depth > DEEPEST) fail();
    if (open === "{" || open === "[") {
      const close = open === "{" ? "}" : "]";
      const children = [];
      at += 1;
      blank();
      while (text[at] !== close) {
        if (children.length > 0) {
          if (text[at] !== ",") fail();
          at += 1;
          blank();
        }
        let key = null;
        if (open === "{") {
          if (text[at] !== '"') fail();
          key = string();
          blank();
          if (text[at] !== ":") fail();
          at += 1;
        }
        const child = value(depth + 1);
        child.key = key;
        children.push(child);
        blank();
        if (at >= text.length) fail();
      }
      at += 1;
      return { kind: open, start, end: at, children, key: null };
    }
    if (open === '"') string();
    else {
      scalar.lastIndex = at;
      if (!scalar.test(text)) fail();
      at = scalar.lastIndex;
    }
    return { kind: "v", start, end: at, children: [], key: null };
  };
  const node = value(0);
  blank();
  if (at !== text.length) fail();
  return node;
}

// Returns the nodes that contain a span, outermost first.
export function path(node, [start, end]) {
  const from = (child) => child.key?.[0] ?? child.start;
  const inner = node.children.find((child) => from(child) <= start && end <= child.end);
  return inner ? [node, ...path(inner, [start, end])] : [node];
}
