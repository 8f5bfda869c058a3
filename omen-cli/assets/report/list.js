// A list of any length. Only its visible rows are in the page.
import { h } from "./dom.js";

// Browsers do not support elements that are much higher than this.
const HIGHEST = 15000000;

let lists = 0;

export class List {
  // `row(item)` returns the content of a row; `pick(item)` is called for the selected row. With `follows`, moving also selects.
  constructor({ label, height, row, pick, follows = false }) {
    Object.assign(this, { height, row, pick, follows, items: [], drawn: new Map(), active: -1, chosen: -1, name: `:list-${(lists += 1)}` });
    this.space = h("div", { class: "space", role: "presentation" });
    this.element = h("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": label }, this.space);
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("click", (event) => {
      const index = this.items.indexOf([...this.drawn].find(([, option]) => option.contains(event.target))?.[0]);
      if (index < 0) return;
      this.move(index);
      this.pick(this.items[index]);
    });
    this.element.addEventListener("focus", () => this.active < 0 && this.items.length > 0 && this.move(Math.max(0, this.chosen)));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(items) {
    this.items = items.length * this.height > HIGHEST ? items.slice(0, Math.floor(HIGHEST / this.height)) : items;
    this.space.style.height = `${this.items.length * this.height}px`;
    this.drawn.clear();
    this.space.replaceChildren();
    this.active = -1;
    this.chosen = -1;
    this.element.scrollTop = 0;
    this.draw();
  }

  choose(item) {
    this.chosen = this.items.indexOf(item);
    this.move(this.chosen);
  }

  // Makes a row active, and scrolls it into view.
  move(index) {
    this.active = index;
    if (index >= 0) {
      const [top, view] = [index * this.height, this.element.clientHeight];
      if (top < this.element.scrollTop) this.element.scrollTop = top;
      else if (top + this.height > this.element.scrollTop + view) this.element.scrollTop = top + this.height - view;
    }
    this.draw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 1);
    const last = this.items.length - 1;
    const at = Math.max(0, this.active);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: last }[event.key];
    if (to !== undefined && last >= 0) {
      this.move(Math.min(last, Math.max(0, to)));
      if (this.follows) this.pick(this.items[this.active]);
    } else if (event.key === "Enter" && this.items[this.active]) this.pick(this.items[this.active]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Keeps rows that already exist: replacing one while the mouse button is down would lose the click.
  draw() {
    const from = Math.max(0, Math.floor(this.element.scrollTop / this.height) - 4);
    const to = Math.min(this.items.length, from + Math.ceil(this.element.clientHeight / this.height) + 8);
    const needed = new Set(this.items.slice(from, to));
    // The active row stays in the page, even if it is scrolled out of view.
    if (this.items[this.active]) needed.add(this.items[this.active]);
    for (const [item, option] of this.drawn) {
      if (needed.has(item)) continue;
      option.remove();
      this.drawn.delete(item);
    }
    for (const item of needed) {
      const option = this.drawn.get(item) ?? this.option(item);
      const index = Number(option.dataset.index);
      option.classList.toggle("active", index === this.active);
      option.setAttribute("aria-selected", String(index === this.chosen));
    }
    if (this.items[this.active]) this.element.setAttribute("aria-activedescendant", `${this.name}-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  option(item) {
    const index = this.items.indexOf(item);
    const option = h("div", {
      class: "row", role: "option", id: `${this.name}-${index}`, "data-index": index,
      "aria-setsize": this.items.length, "aria-posinset": index + 1,
    }, this.row(item));
    option.style.top = `${index * this.height}px`;
    option.style.height = `${this.height}px`;
    this.space.append(option);
    this.drawn.set(item, option);
    return option;
  }
}
