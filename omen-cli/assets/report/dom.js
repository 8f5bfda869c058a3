// Functions that create elements. Content of logs is only ever inserted as text, never as markup.

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Formats a number with digits in groups of three.
export function number(value) {
  return value.toLocaleString("en-US");
}

export function counted(value, noun) {
  return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
}

// A list that shows its first items, and more on demand.
export function some(items, most, show) {
  const box = h("div", { class: "some" });
  const add = (from) => {
    const to = Math.min(items.length, from + most);
    box.append(...items.slice(from, to).map(show));
    if (to === items.length) return null;
    const more = h("button", { type: "button", class: "more" }, `Show ${number(Math.min(most, items.length - to))} more of ${number(items.length - to)}`);
    more.addEventListener("click", () => {
      more.remove();
      const next = box.childElementCount;
      add(to);
      box.children[next]?.querySelector("a, button, summary")?.focus();
    });
    box.append(more);
    return more;
  };
  add(0);
  return box;
}
