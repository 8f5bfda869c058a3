// A list of any length, of which only the rows in sight are in the page.
import { h } from "./dom.js";

// Browsers give up on elements that are much higher than this.
const HIGHEST = 15000000;

let lists = 0;

export class List {
  // `row(item)` returns the content of a row, `pick(item)` is called for the one that is chosen. With `follows`, moving is choosing.
  constructor({ label, height, row, pick, follows = false }) {
    Object.assign(this, { height, row, pick, follows, items: [], active: -1, chosen: -1, name: `:list-${(lists += 1)}` });
    this.space = h("div", { class: "space", role: "presentation" });
    this.element = h("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": label }, this.space);
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("focus", () => this.active < 0 && this.items.length > 0 && this.move(Math.max(0, this.chosen)));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(items) {
    this.items = items.length * this.height > HIGHEST ? items.slice(0, Math.floor(HIGHEST / this.height)) : items;
    this.space.style.height = `${this.items.length * this.height}px`;
    this.active = -1;
    this.chosen = -1;
    this.element.scrollTop = 0;
    this.draw();
  }

  choose(item) {
    this.chosen = this.items.indexOf(item);
    this.move(this.chosen);
  }

  // Makes a row the active one, and brings it into sight.
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

  draw() {
    const from = Math.max(0, Math.floor(this.element.scrollTop / this.height) - 4);
    const to = Math.min(this.items.length, from + Math.ceil(this.element.clientHeight / this.height) + 8);
    const rows = [];
    for (let index = from; index < to; index += 1) rows.push(this.option(index));
    // The active row stays in the page, wherever the list is scrolled to.
    if (this.active >= 0 && this.active < this.items.length && (this.active < from || this.active >= to)) rows.push(this.option(this.active));
    this.space.replaceChildren(...rows);
    if (this.active >= 0) this.element.setAttribute("aria-activedescendant", `${this.name}-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  option(index) {
    const item = this.items[index];
    const option = h("div", {
      class: index === this.active ? "row active" : "row", role: "option", id: `${this.name}-${index}`,
      "aria-selected": String(index === this.chosen), "aria-setsize": this.items.length, "aria-posinset": index + 1,
    }, this.row(item));
    option.style.top = `${index * this.height}px`;
    option.style.height = `${this.height}px`;
    option.addEventListener("click", () => {
      this.move(index);
      this.pick(item);
    });
    return option;
  }
}
