"use strict";
(() => {
  const NAMES = { o: "open", t: "ran", w: "waived", e: "exempt" };
  const byId = (id) => document.getElementById(id);
  const body = document.body;
  const search = byId("$search");
  const status = byId("$status");
  const help = byId("$help");
  const sections = [...document.querySelectorAll("section.f")];
  const data = JSON.parse(byId("$data").textContent);
  const known = new Map();

  // ------------------------------------------------------------ what is known of a line

  function entriesOf(row) {
    const section = row.closest("section.f");
    if (!known.has(section)) {
      const [path, before, after, lines] = data.files[sections.indexOf(section)];
      known.set(section, { path, before, after, lines: new Map(lines) });
    }
    const file = known.get(section);
    const line = lineOf(row);
    return { file, line, entries: file.lines.get(line) || [] };
  }

  const lineOf = (row) => (row.id ? Number(row.id.slice(row.id.lastIndexOf(":") + 1)) : 0);

  function element(name, text, attributes) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    return made;
  }

  function facts(entry) {
    const text = (at) => data.texts[at] || "";
    if (entry.length === 1) return [["exempt", `owes nothing: ${text(entry[0])}`]];
    const [state, kind, scope, hash, occurrence, first, last, how, precision, note, waiver, count, arms, names] = entry;
    const found = [[text(state), `${text(kind)}${scope ? ` in ${text(scope)}` : ""}`]];
    if (how) found.push(["ran", text(how)]);
    names.forEach((name) => found.push(["by", text(name)]));
    if (how && !names.length) found.push(["by", "tests that the evidence does not name"]);
    if (names.length && count > names.length) found.push(["by", `${count - names.length} more`]);
    if (text(precision) === "statement") found.push(["precision", "judged by the whole statement, the evidence is no finer"]);
    if (waiver) found.push(["waiver", text(waiver)]);
    if (note) found.push(["note", text(note)]);
    arms.forEach(([arm, taken]) => found.push(["arm", `${text(arm)}: ${text(taken)}`]));
    if (first !== last) found.push(["part of", `the statement on lines ${first}-${last}`]);
    found.push(["identity", `${hash}${occurrence > 1 ? `, number ${occurrence} of its kind there` : ""}`]);
    return found;
  }

  function panel(row) {
    const { file, line, entries } = entriesOf(row);
    const cell = element("td", undefined, { colspan: "4" });
    entries.forEach((entry, number) => {
      if (number) cell.append(element("hr"));
      const list = element("dl");
      let before = "";
      for (const [label, value] of facts(entry)) {
        list.append(label === before ? "" : element("dt", label), element("dd", value));
        before = label;
      }
      cell.append(list);
    });
    const list = cell.lastElementChild;
    if (file.before && list) copyable(list, "next", `${file.before}:${line}${file.after}`);
    if (row.id && list) copyable(list, "link", `#${row.id}`);
    const made = element("tr", undefined, { class: "d" });
    made.append(element("td"), cell);
    return made;
  }

  function copyable(list, label, value) {
    const definition = element("dd");
    const text = element("code", value);
    const button = element("button", "copy", { type: "button", "aria-label": `copy ${label}` });
    button.addEventListener("click", () => copy(label === "link" ? location.href.split("#")[0] + value : value, text));
    definition.append(text, " ", button);
    list.append(element("dt", label), definition);
  }

  function copy(value, text) {
    const select = () => getSelection().selectAllChildren(text);
    if (!navigator.clipboard) {
      select();
      say("press the keys for copying");
      return;
    }
    navigator.clipboard.writeText(value).then(() => say("copied"), select);
  }

  function toggle(row, wanted) {
    const button = row.querySelector("button");
    const below = row.nextElementSibling;
    const last = below && below.matches(".m") ? below : row;
    const next = last.nextElementSibling;
    const isOpen = Boolean(next && next.matches(".d"));
    if (isOpen === wanted) return;
    if (isOpen) next.remove();
    else last.after(panel(row));
    button.setAttribute("aria-expanded", String(!isOpen));
  }

  // ------------------------------------------------------------ moving

  let here = null;

  function go(row, focus) {
    if (here) here.classList.remove("here");
    here = row;
    row.classList.add("here");
    row.closest("details").open = true;
    // twice: tables above that are laid out on the way may move it
    document.documentElement.classList.add("jump");
    row.scrollIntoView({ block: "center" });
    requestAnimationFrame(() => {
      row.scrollIntoView({ block: "center" });
      if (focus) row.querySelector("button").focus({ preventScroll: true });
      document.documentElement.classList.remove("jump");
    });
  }

  function stops() {
    const shown = body.dataset.show;
    const wanted = shown === "t" ? "tr.t, tr.i" : `tr.${shown || "o"}`;
    const all = [...document.querySelectorAll(wanted)].filter((row) => !row.closest(".x") && !row.classList.contains("x"));
    // neighbours are one stop
    const starts = all.filter((row) => {
      const before = row.previousElementSibling;
      return !before || !before.matches(wanted) || before.matches(".x");
    });
    return starts.length || shown ? starts : [...document.querySelectorAll("tr.t, tr.i, tr.w")];
  }

  function step(direction) {
    const rows = stops();
    if (!rows.length) {
      say("no such line");
      return;
    }
    let at = -1;
    if (here) {
      const follows = (row) => here.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING;
      const next = rows.findIndex((row) => row !== here && follows(row));
      at = direction > 0 ? next : (next < 0 ? rows.length : next) - (rows.includes(here) ? 2 : 1);
      if (at < 0) at = direction > 0 ? 0 : rows.length - 1;
    } else {
      at = direction > 0 ? 0 : rows.length - 1;
    }
    go(rows[at], true);
    if (rows[at].id) history.replaceState(null, "", `#${rows[at].id}`);
    say(`${at + 1} of ${rows.length}`);
  }

  function follow() {
    const target = byId(location.hash.slice(1));
    if (!target) return;
    if (target.matches("tr")) {
      if (target.offsetParent === null) showAll();
      go(target, true);
      toggle(target, true);
    } else if (target.matches("section.f")) {
      target.querySelector("details").open = true;
      target.scrollIntoView();
    }
  }

  // ------------------------------------------------------------ filters

  const say = (text) => {
    status.textContent = text;
  };
  const allButton = document.querySelector('[data-do="all"]');

  function show(state) {
    if (state) body.dataset.show = state;
    else delete body.dataset.show;
    for (const tile of document.querySelectorAll(".tile")) {
      tile.setAttribute("aria-pressed", String(tile.dataset.state === state));
    }
    allButton.hidden = !state && !search.value;
    say(state ? `only lines that are ${NAMES[state]}` : "");
  }

  function find(wanted) {
    const text = wanted.toLowerCase();
    let count = 0;
    sections.forEach((section, number) => {
      const named = !text || data.files[number][0].toLowerCase().includes(text);
      let found = named;
      for (const row of section.querySelectorAll(".h tr")) {
        const fits = named || (row.lastElementChild.textContent.toLowerCase().includes(text) && !row.matches(".m, .d"));
        row.classList.toggle("x", !fits);
        if (fits && !named) count += 1;
        found = found || fits;
      }
      section.classList.toggle("x", !found);
      count += named && text ? 1 : 0;
    });
    allButton.hidden = !text && !body.dataset.show;
    say(text ? `${count} found` : "");
  }

  function showAll() {
    search.value = "";
    find("");
    show("");
  }

  // ------------------------------------------------------------ who asks

  const DOES = {
    next: () => step(1),
    previous: () => step(-1),
    all: showAll,
    help: () => help.showModal(),
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.do) DOES[button.dataset.do]();
    else if (button.dataset.state) show(body.dataset.show === button.dataset.state ? "" : button.dataset.state);
    else if (button.parentElement.matches(".h tr[class] > td:first-child")) toggle(button.closest("tr"));
  });

  const KEYS = {
    j: DOES.next,
    k: DOES.previous,
    "?": DOES.help,
    "/": () => search.focus(),
    0: showAll,
    1: () => show("o"),
    2: () => show("t"),
    3: () => show("w"),
    4: () => show("e"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target === search) {
      if (event.key !== "Escape") return;
      search.value = "";
      find("");
      search.blur();
      return;
    }
    if (Object.hasOwn(KEYS, event.key)) {
      event.preventDefault();
      KEYS[event.key]();
    }
  });

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => find(search.value.trim()), 150);
  });
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("section.f > details")) details.open = true;
  });
  follow();
})();
