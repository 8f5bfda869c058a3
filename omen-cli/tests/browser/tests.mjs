// Tests that run in a browser. Each function receives `open` (see `browser.mjs`) and the reports.
import assert from "node:assert/strict";

const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
  await settled(page);
};
const hash = (page) => page.evaluate(() => location.hash);
// Address of the overview, even of a report on a single episode.
const OVERVIEW = "#:overview";
const selected = (page) => page.text("#episode .panel h3");

export async function reports_open_without_errors_or_requests(open, reports) {
  for (const report of reports) {
    const page = await open(report);
    const episode = await page.evaluate(() => document.querySelector("#side .row") !== null);
    assert.equal(episode, true, "the episodes are listed");
    await page.click("#side .row");
    await page.waitForSelector("#episode:not([hidden])");
    await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
    await settled(page);
    assert.deepEqual(page.troubles, [], report);
  }
}

export async function the_verdict_comes_first(open, [clean, faulty]) {
  const good = await open(clean, { hash: OVERVIEW });
  assert.equal(await good.text("h1"), "No errors");
  assert.equal(await good.text("#rejected p"), "None.");
  const bad = await open(faulty, { hash: OVERVIEW });
  assert.equal(await bad.text("h1"), "Errors found");
  assert.match(await bad.text(".detail"), /^1 of \d+ packets rejected, errors in 1 episode$/);
  const [heading, list] = await bad.evaluate(() => ["h1", "#rejected .card"].map((selector) => document.querySelector(selector).getBoundingClientRect().top));
  assert.ok(heading < list && list < 900, "the verdict is above the rejected packets, which are in view");
  assert.match(await bad.text("#rejected .card"), /error E4.*has expired.*Help/s);
  assert.match(await bad.text("#rejected .card mark"), /token_trim_early/);
}

export async function a_deep_link_selects_the_packet(open, [report]) {
  const page = await open(report, { hash: "#corr_archive_trim_3/pkt_directive_1_try" });
  assert.equal(await selected(page), "pkt_directive_1_try");
  assert.equal(await page.text("#episode .row[aria-selected=true] .two bdi"), "pkt_directive_1_try");
  // Its text is expanded at the position of the finding.
  assert.equal(await page.text("#episode .tree mark"), '"token_trim_early"');
  assert.equal(await page.$eval("#episode .tree mark", (mark) => mark.checkVisibility()), true);
  // The rule is shown, and the path from the decision to the result is linked.
  assert.match(await page.text("#episode .panel .rule-text"), /E4/);
  assert.match(await page.text("#episode .panel .chain"), /DecisionPacket.*ToolAuthorizationToken.*TaskDirectivePacket/s);
  // The timeline shows the budgets, and the lifetimes of tokens and tasks.
  assert.deepEqual(await page.$$eval("#episode .timeline .left .dim", (labels) => labels.map((label) => label.textContent)), ["time", "tokens", "tool calls", "seconds"]);
  assert.deepEqual(await page.$$eval("#episode .timeline .bar text", (bars) => bars.map((bar) => bar.textContent).sort()), ["task_trim_debug", "token_trim_early", "token_trim_window"]);
  assert.equal((await page.$$("#episode .timeline .dot.bad")).length, 2, "the packet, and the legend");
  // An address with a line, and one without a packet: it selects the first rejected packet.
  const line = await open(report, { hash: "#corr_archive_trim_3/:2" });
  assert.match(await line.text("#episode .panel .under"), /BeliefUpdatePacket/);
  const first = await open(report, { hash: "#corr_archive_trim_3" });
  assert.equal(await selected(first), "pkt_directive_1_try");
  const unknown = await open(report, { hash: "#corr_nothing/pkt_x" });
  assert.match(await unknown.text(".unknown"), /nothing at this address: corr_nothing\/pkt_x/);
}

export async function the_keyboard_goes_everywhere(open, [report]) {
  const page = await open(report);
  await press(page, "n");
  const finding = await hash(page);
  assert.match(finding, /^#.+\/.+/, "from the overview to the first finding");
  await press(page, "k");
  assert.notEqual(await hash(page), finding);
  await press(page, "j");
  assert.equal(await hash(page), finding);
  await press(page, "o");
  assert.equal(await page.$eval("#overview", (overview) => overview.hidden), false);
  await press(page, "]", "]");
  const second = await hash(page);
  await press(page, "[");
  assert.notEqual(await hash(page), second);
  // In the list of packets, arrow keys move and select.
  await page.focus("#episode .list");
  await press(page, "Home");
  const first = await selected(page);
  await press(page, "ArrowDown");
  const next = await selected(page);
  assert.notEqual(next, first);
  assert.equal(await page.$eval("#episode .list", (list) => document.getElementById(list.getAttribute("aria-activedescendant")).ariaSelected), "true");
  // In the timeline, the focus stays in the timeline.
  await page.focus("#episode .scroll");
  await press(page, "ArrowLeft");
  assert.equal(await selected(page), first);
  await press(page, "ArrowRight");
  assert.equal(await selected(page), next);
  // In the list of episodes, Enter opens an episode.
  await page.focus("#side .list");
  await press(page, "End", "Enter");
  const last = await page.text("#episode h2");
  await page.focus("#side .list");
  await press(page, "Home", "Enter");
  assert.notEqual(await page.text("#episode h2"), last);
  // Search and help.
  await press(page, "/");
  assert.equal(await page.evaluate(() => document.activeElement.type), "search");
  await page.keyboard.type("j?");
  assert.equal(await page.evaluate(() => document.activeElement.value), "j?", "keys in a field are text");
  await press(page, "Escape", "?");
  assert.equal(await page.$eval("dialog", (dialog) => dialog.open), true);
  await press(page, "Escape");
  assert.equal(await page.$eval("dialog", (dialog) => dialog.open), false);
  assert.deepEqual(page.troubles, []);
}

export async function search_and_filter_narrow_the_list(open, [report]) {
  const page = await open(report);
  const names = () => page.$$eval("#side .row .one", (rows) => rows.map((row) => row.textContent));
  const all = await names();
  const search = async (text) => {
    await page.$eval("#side input", (input, text) => {
      input.value = text;
      input.dispatchEvent(new Event("input"));
    }, text);
    await page.waitForFunction((old) => document.querySelector("#side .count").textContent !== old, {}, await page.text("#side .count")).catch(() => {});
    return names();
  };
  assert.deepEqual(await search("TOKEN_TRIM_EARLY"), ["corr_archive_trim_3"], "in a finding, ignoring case");
  assert.deepEqual(await search("nothing has this"), []);
  assert.match(await page.text("#side .count"), /^0 of \d+ episodes$/);
  assert.deepEqual(await search(""), all);
  await page.select("#side select", "bad");
  const bad = await names();
  assert.ok(bad.length > 0 && bad.length < all.length);
  assert.deepEqual(bad, all.slice(0, bad.length), "episodes with errors come first");
}

export async function one_episode_opens_on_itself(open, [one, several, audited]) {
  const page = await open(one);
  assert.equal(await page.$eval("#overview", (overview) => overview.hidden), true);
  assert.match(await hash(page), /^#corr_/);
  await page.click("#episode .steps a");
  await settled(page);
  assert.equal(await page.$eval("#overview", (overview) => overview.hidden), false, "the overview is one step away");
  // With several episodes, or with refused calls of an audit log, the overview comes first.
  for (const report of [several, audited]) {
    const page = await open(report);
    assert.equal(await page.$eval("#overview", (overview) => overview.hidden), false);
  }
  assert.deepEqual(page.troubles, []);
}

export async function every_write_has_its_token_decision_and_result(open, [legal, faulty]) {
  const cells = (page) => page.$$eval("#writes tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText)));
  const page = await open(legal, { hash: OVERVIEW });
  const [[directive, tool, decision, token, result], ...more] = await cells(page);
  assert.deepEqual(more, []);
  assert.match(directive, /^pkt_.*line \d+$/s);
  assert.notEqual(tool, "");
  assert.match(decision, /^pkt_/);
  assert.match(token, /^pkt_/);
  assert.match(result, /^pkt_.*SUCCESS/s);
  await page.click("#writes tbody td:nth-child(4) a");
  await page.waitForSelector("#episode:not([hidden])");
  assert.match(await page.text("#episode .panel .under"), /ToolAuthorizationToken/);
  // A write whose token is not in the log.
  const rows = await cells(await open(faulty, { hash: OVERVIEW }));
  assert.ok(rows.some(([directive, , , token]) => /rejected/.test(directive) && /not found/.test(token)), JSON.stringify(rows));
  assert.deepEqual(page.troubles, []);
}

export async function episodes_are_filtered_by_code_tool_and_log(open, [report]) {
  const page = await open(report);
  const names = () => page.$$eval("#side .row .one", (rows) => rows.map((row) => row.textContent));
  const all = await names();
  const options = (id) => page.$$eval(`[id=":${id}"] option`, (options) => options.map(({ value, textContent }) => [textContent, value]));
  const choose = async (id, text) => {
    await page.select(`[id=":${id}"]`, new Map(await options(id)).get(text));
    await settled(page);
    return names();
  };
  assert.deepEqual(await choose("code", "E4"), ["corr_archive_trim_3"]);
  assert.deepEqual(await choose("code", "Any"), all);
  const tools = (await options("tool")).map(([text]) => text).filter((text) => text !== "Any");
  assert.ok(tools.length > 1, tools.join());
  for (const tool of tools) assert.ok((await choose("tool", tool)).length < all.length, tool);
  await choose("tool", "Any");
  assert.deepEqual(await choose("log", "good.jsonl"), all.filter((name) => name !== "corr_archive_trim_3"));
  // Filters combine: an episode must match both.
  assert.deepEqual(await choose("code", "E4"), []);
  assert.match(await page.text("#side .count"), /^0 of \d+ episodes$/);
  assert.deepEqual(page.troubles, []);
}

export async function a_touch_and_a_tab_go_where_keys_go(open, [report]) {
  const page = await open(report, { hash: OVERVIEW, width: 400, height: 800 });
  await page.click("#side .keys button");
  assert.equal(await page.$eval("dialog", (dialog) => dialog.open), true);
  await press(page, "Escape", "Tab");
  await page.evaluate(() => document.activeElement.blur());
  await page.evaluate(() => document.querySelector(".skip").focus());
  assert.equal(await page.$eval(".skip", (skip) => skip.getBoundingClientRect().left >= 0), true, "it is visible when it has the focus");
  await press(page, "Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  assert.deepEqual(page.troubles, []);
}

export async function ten_thousand_episodes_are_a_small_page(open, [report]) {
  const page = await open(report);
  assert.match(await page.text("#side .count"), /^10,000 of 10,000 episodes$/);
  assert.ok((await page.count()) < 2500, `${await page.count()} elements`);
  // Every part of the list can be reached, and the page does not grow.
  await page.focus("#side .list");
  await press(page, "End");
  assert.equal(await page.text("#side .row.active .one"), "corr_09999");
  for (const part of [0.25, 0.5, 0.75]) {
    await page.$eval("#side .list", (list, part) => (list.scrollTop = part * list.scrollHeight), part);
    await settled(page);
    assert.ok((await page.$$("#side .row")).length < 60);
  }
  await press(page, "Enter");
  await page.waitForSelector("#episode:not([hidden])");
  assert.equal(await page.text("#episode h2"), "corr_09999");
  assert.ok((await page.count()) < 3000, `${await page.count()} elements`);
  const found = await open(report, { hash: "#corr_05000" });
  assert.equal(await found.text("#episode h2"), "corr_05000");
  assert.equal(await found.text("#side .row[aria-selected=true] .one"), "corr_05000");
  assert.deepEqual(page.troubles, []);
}

export async function a_long_episode_is_shown_in_part(open, [report]) {
  const page = await open(report, { hash: "#corr_long" });
  assert.ok((await page.count()) < 3500, `${await page.count()} elements`);
  await page.focus("#episode .list");
  await press(page, "End");
  assert.equal(await page.text("#episode .row[aria-selected=true] .line"), "2,000");
  assert.match(await page.text("#episode .timeline .note"), /Packets 1,851 to 2,000 of 2,000/);
  assert.ok((await page.count()) < 3500, `${await page.count()} elements`);
}

export async function hostile_texts_are_text(open, [report]) {
  const page = await open(report);
  const walk = async () => {
    await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
    await settled(page);
  };
  await walk();
  const rows = await page.$$("#side .row");
  assert.ok(rows.length > 1);
  for (let index = 0; index < rows.length; index += 1) {
    await page.focus("#side .list");
    await press(page, "Home", ...Array(index).fill("ArrowDown"), "Enter");
    const packets = await page.$$eval("#episode .row", (rows) => rows.length);
    await page.focus("#episode .list");
    await press(page, "Home");
    for (let packet = 0; packet < packets; packet += 1) {
      await walk();
      await walk();
      await press(page, "ArrowDown");
    }
  }
  assert.equal(await page.evaluate(() => globalThis.hit), undefined);
  assert.equal(await page.evaluate(() => document.querySelectorAll("img, iframe, object, embed, base, body link, style:not(head > style), script:not([type=module])").length), 0);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).display), "block", "no style was injected");
  assert.match(await page.evaluate(() => document.body.textContent), /<script>hit=1<\/script>/);
  // Characters that change the writing direction are spelled out, and every text from a log is isolated.
  assert.equal(await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069]/.test(document.querySelector("main").textContent)), false);
  assert.match(await page.evaluate(() => document.querySelector("main").textContent), /\\u\{202e\}/);
  assert.deepEqual(page.troubles, []);
}

export async function a_long_text_is_cut_and_can_be_seen_whole(open, [report]) {
  const page = await open(report, { hash: "#corr_long_text/pkt_obs_1" });
  const length = () => page.$eval("#episode .tree", (tree) => tree.textContent.length);
  await page.evaluate(() => document.querySelectorAll("#episode .tree details").forEach((details) => (details.open = true)));
  await settled(page);
  await page.evaluate(() => document.querySelectorAll("#episode .tree details").forEach((details) => (details.open = true)));
  await settled(page);
  assert.ok((await length()) < 20000, `${await length()} characters`);
  await page.evaluate(() => [...document.querySelectorAll("#episode .tree button")].find((button) => /show all 1,0\d\d,\d\d\d characters/.test(button.textContent)).click());
  assert.ok((await length()) > 1000000, `${await length()} characters`);
  assert.ok((await page.evaluate(() => document.scrollingElement.scrollWidth)) <= 1280);
}

export async function dark_mode_and_print_have_colours_of_their_own(open, [report]) {
  const light = await open(report);
  const dark = await open(report, { dark: true });
  const brightness = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).reduce((sum, part) => sum + Number(part), 0));
  assert.ok((await brightness(light)) > 700 && (await brightness(dark)) < 120);
  const paper = await open(report, { dark: true, media: "print", hash: "#corr_archive_trim_3" });
  assert.equal(await brightness(paper), 765, "paper is white");
  assert.equal(await paper.$eval("#side", (side) => side.checkVisibility()), false);
  const pdf = await paper.pdf();
  assert.ok(pdf.length > 10000);
  // Every packet is printed with its findings.
  const printed = await paper.$$eval("#episode .printed", (packets) => packets.map((packet) => packet.textContent));
  assert.ok(printed.length > 5 && printed.some((text) => text.includes("has expired")));
}

export async function it_fits_a_narrow_screen(open, [report]) {
  for (const address of ["", OVERVIEW, "#corr_archive_trim_3"]) {
    const page = await open(report, { hash: address, width: 400, height: 800 });
    assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth), 400, address);
  }
}

export async function axe_finds_nothing_serious(open, reports) {
  for (const report of reports) {
    for (const options of [{}, { dark: true }, { width: 400 }]) {
      const page = await open(report, options);
      assert.deepEqual(await page.violations(), [], `overview ${JSON.stringify(options)}`);
      await press(page, "]");
      await page.evaluate(() => document.querySelectorAll("#episode details").forEach((details) => (details.open = true)));
      assert.deepEqual(await page.violations(), [], `episode ${JSON.stringify(options)}`);
      await press(page, "?");
      assert.deepEqual(await page.violations(), [], `help ${JSON.stringify(options)}`);
      await page.close();
    }
  }
}

export async function an_audit_log_shows_calls_and_confirmations(open, [report]) {
  const page = await open(report);
  assert.match(await page.text("#calls .facts"), /Chain\s*sound.*Anchor.*none given/s);
  const rows = await page.$$eval("#entries tbody tr", (rows) => rows.map((row) => row.textContent));
  assert.ok(rows.some((row) => row.includes("confirmation") && row.includes("allowed by ops, socket")), rows.join("\n"));
  assert.ok(rows.some((row) => row.includes("intent") && row.includes("db/retention.set")));
  // The directive shows the entries about it.
  await page.click("#entries tbody a");
  await page.waitForSelector("#episode:not([hidden])");
  assert.match(await page.text("#episode .panel"), /At the tool boundary.*confirmation/s);
  assert.deepEqual(page.troubles, []);
}

export async function consequences_stand_under_their_root(open, [report]) {
  const page = await open(report);
  assert.equal((await page.$$("#rejected > .some > .card")).length, 1, "one card for one mistake");
  assert.match(await page.text("#rejected .consequences summary"), /^\d+ more findings? follows? from it$/);
  assert.equal(await page.$eval("#rejected .consequences", (details) => details.open), false);
}

export async function calls_of_the_proxy_lead_to_their_packets(open, reports) {
  for (const [index, report] of reports.entries()) {
    const page = await open(report);
    const rows = await page.$$eval("#entries table:last-of-type tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.querySelector("a")?.getAttribute("href") ?? cell.textContent)));
    const packets = (kind) => rows.filter((row) => row[2] === kind).map((row) => row[5]);
    assert.ok(packets("intent").every((packet) => /^#corr_.*\/pkt_/.test(packet)), JSON.stringify(rows));
    assert.deepEqual(packets("intent"), packets("outcome"));
    // In `enforce`, two calls under directives and one before the decision.
    assert.equal(new Set(packets("intent")).size, index === 0 ? 3 : 2);
    // The refused call at least leads to its episode.
    const [refused] = await page.$$eval("#entries table:first-of-type tbody tr:first-child a", (links) => links.map((link) => link.getAttribute("href")));
    assert.match(refused, /^#corr_/);
    await page.click("#entries .entries a[href*='/']");
    await page.waitForSelector("#episode:not([hidden])");
    assert.match(await page.text("#episode .panel"), /At the tool boundary/);
    assert.deepEqual(page.troubles, []);
  }
}

export async function refused_calls_and_calls_in_doubt_come_first(open, [report]) {
  const page = await open(report);
  assert.equal(await page.text("h1"), "No errors, 1 refused call");
  assert.match(await page.$eval("link[rel=icon]", (icon) => icon.href), /%238a5300/);
  const titles = await page.$$eval("#entries h3", (titles) => titles.map((title) => title.textContent));
  assert.deepEqual(titles, ["Refused calls", "Calls in doubt", "Confirmed calls", "All entries"]);
  const tables = await page.$$eval("#entries table", (tables) => tables.map((table) => table.querySelector("tbody").textContent));
  assert.match(tables[0], /db\/drop_table.*denied, G1 no grant/s);
  assert.match(tables[1], /intent.*in doubt/s);
  // Every entry of the turn leads to the packet that one of them names.
  assert.equal((await page.$$eval("#entries table:last-of-type tbody a", (links) => new Set(links.map((link) => link.hash)).size)), 1);
  assert.deepEqual(page.troubles, []);
}

export async function a_consequence_names_its_cause_and_each_finding_its_log(open, [report]) {
  const page = await open(report);
  assert.match(await page.text("#rejected .card .place"), /^cascade.jsonl, line 2/);
  await page.$eval("#rejected .consequences", (details) => (details.open = true));
  const places = await page.$$eval("#rejected .consequences li a", (links) => links.map((link) => link.textContent));
  assert.ok(places.length > 0 && places.every((place) => place.startsWith("cascade.jsonl, ")), places.join("; "));
  // A packet with a consequence shows this in its row, and on its card with a link to the cause.
  await page.click("#rejected .consequences li a");
  await page.waitForSelector("#episode:not([hidden])");
  assert.match(await page.text("#episode .panel .card .cause"), /^Follows from line 2: /);
  assert.match(await page.text("#episode .row[aria-selected=true]"), /follows from line 2/);
  await page.click("#episode .panel .card .cause a");
  await settled(page);
  assert.match(await page.text("#episode .panel .under"), /^rejected/);
  // In the episode, findings without a packet are below their cause.
  const [first] = await page.$$eval("#episode > div > .card, #episode .panel > .card", (cards) => cards.map((card) => card.querySelector(".cause") === null));
  assert.equal(first, true);
  assert.match(await page.text("#side .row .two"), /^(good|cascade).jsonl · /);
  assert.deepEqual(page.troubles, []);
}

// Not a test: takes screenshots for reviewers. The last argument is the folder for them.
export async function pictures(open, reports) {
  const folder = reports.pop();
  const [faulty, many, audited] = reports;
  const shoot = async (name, report, options, then) => {
    const page = await open(report, options);
    await then?.(page);
    await settled(page);
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: options.full ?? false });
    await page.close();
  };
  await shoot("light", faulty, {});
  await shoot("full", faulty, { full: true });
  await shoot("dark", faulty, { dark: true });
  await shoot("narrow", faulty, { width: 400, height: 850 });
  await shoot("episode", faulty, { full: true }, (page) => press(page, "n"));
  await shoot("episode-dark", faulty, { dark: true, full: true }, (page) => press(page, "n"));
  await shoot("episode-narrow", faulty, { width: 400, height: 850, full: true }, (page) => press(page, "n"));
  await shoot("print", faulty, { media: "print", full: true });
  await shoot("print-episode", faulty, { media: "print", full: true }, async (page) => {
    await press(page, "n");
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  });
  if (many) await shoot("many", many, {});
  if (audited) await shoot("audit", audited, { full: true });
  if (audited) await shoot("audit-episode", audited, { full: true }, (page) => page.click("#entries tbody a"));
}
