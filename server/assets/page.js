// Convenience alone: keys, the count in the title, notices. Everything works without it.
(() => {
  "use strict";
  const typing = (element) => element.closest("input, textarea, select, [contenteditable]");
  const links = () => [...document.querySelectorAll(".card h2 a, .card .said a")];
  const go = (address) => { window.location.assign(address); };
  const move = (by) => {
    const all = links();
    if (all.length === 0) return;
    const at = all.indexOf(document.activeElement);
    all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))].focus();
  };
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    n: () => document.getElementById("next")?.click(),
    a: () => document.querySelector("#decision input:not([type=hidden]), #decision textarea")?.focus(),
    i: () => go("/"),
    r: () => go("/runs"),
    g: () => go("/agents"),
    "?": () => go("/settings#keys"),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const does = keys[event.key];
    if (does) { event.preventDefault(); does(); }
  });

  // A link from elsewhere may lead to the answer at once.
  if (new URLSearchParams(window.location.search).get("focus") === "decision") keys.a();

  // Whoever claims a question while he writes an answer goes on with what is written.
  const changed = (field) => {
    if (field.type === "radio" || field.type === "checkbox") return field.checked !== field.defaultChecked;
    if (field.tagName === "SELECT") return [...field.options].some((one) => one.selected !== one.defaultSelected && !(one.index === 0 && one.selected));
    return field.type !== "hidden" && "defaultValue" in field && field.value !== field.defaultValue;
  };
  // What was claimed so is shown at the address of its button: who reads it again reads the question.
  const claimed = window.location.pathname.match(/^(\/review\/[^/]+)\/claim$/);
  if (claimed) window.history.replaceState(null, "", claimed[1]);

  // What is filled in about a question is one draft. It stays with its tab until the question is decided, whatever comes
  // between: a claim, another page, a session that has ended, a server that is away.
  const review = window.location.pathname.match(/^\/review\/[^/]+$/)?.[0];
  const drafts = review ? `draft ${review}` : null;
  const draft = () => {
    try { return JSON.parse(window.sessionStorage.getItem(drafts)) ?? {}; } catch { return {}; }
  };
  // In the form that applies a change that is shown nothing is filled in.
  const answers = () => [...document.forms].filter((form) => form.getAttribute("action") === review && form.id !== "apply");
  const filled = () => answers().flatMap((form) => [...form.elements]).filter((field) =>
    field.name && ["INPUT", "TEXTAREA", "SELECT"].includes(field.tagName) && field.type !== "hidden");
  const isBox = ({ type }) => type === "radio" || type === "checkbox";
  const called = (field) => isBox(field) ? `${field.name}=${field.value}` : field.name;
  // Who is asked to come in first sees no question.
  const asked = document.querySelector("[data-testid=review]");
  if (drafts && asked && !document.getElementById("decision")) {
    try { window.sessionStorage.removeItem(drafts); } catch { /* Where nothing can be kept, nothing was. */ }
  } else if (drafts && asked) {
    const kept = draft();
    for (const field of filled()) {
      const value = kept[called(field)];
      if (isBox(field) && typeof value === "boolean") field.checked = value;
      else if (!isBox(field) && typeof value === "string"
        && (field.tagName !== "SELECT" || [...field.options].some((option) => option.value === value))) field.value = value;
      if (value !== undefined || changed(field)) field.closest("details")?.setAttribute("open", "");
    }
    const keep = ({ target }) => {
      if (!answers().includes(target.form)) return;
      // What nobody has touched is read anew the next time.
      const before = draft();
      const now = filled().filter((field) => changed(field) || called(field) in before)
        .map((field) => [called(field), isBox(field) ? field.checked : field.value]);
      try {
        window.sessionStorage.setItem(drafts, JSON.stringify({ ...before, ...Object.fromEntries(now) }));
      } catch { /* It stays in its field alone. */ }
    };
    document.addEventListener("input", keep);
    document.addEventListener("change", keep);
  }
  // Claiming a question and giving it back brings it along, for browsers in which nothing can be kept.
  document.addEventListener("submit", ({ target, submitter }) => {
    if (!review || target.getAttribute("action") !== `${review}/claim` || submitter?.name !== "claim") return;
    if (!claimed && Object.keys(draft()).length === 0 && !filled().some(changed)) return;
    for (const [name, value] of answers().flatMap((form) => [...new FormData(form)])) {
      if (["version", "key", "shown_digest", "shown_target"].includes(name)) continue;
      target.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
  });

  // Whoever leaves lets nobody who comes after him read it.
  document.addEventListener("submit", ({ target }) => {
    if (target.getAttribute("action") !== "/session/end") return;
    for (const key of Object.keys(window.sessionStorage)) {
      if (key.startsWith("draft ")) window.sessionStorage.removeItem(key);
    }
  });

  // What somebody else has claimed is his to decide until the claim ends; what is over, and what cannot be sent, is
  // nobody's. What is written meanwhile stays.
  let lost = false;
  const lock = () => {
    const claimed = document.querySelector("#standing [data-testid=claimed]") !== null;
    const over = document.querySelector("#meanwhile [data-testid=over]") !== null;
    const decides = "button[name=decision]:not([value=preview_plan])";
    for (const button of document.querySelectorAll(decides)) button.disabled = claimed || over || lost;
  };
  document.addEventListener("htmx:afterSettle", ({ target }) => { if (target.id === "standing") lock(); });
  const connected = (is) => {
    const note = document.getElementById("unconnected");
    if (!note || lost === !is) return;
    lost = !is;
    note.hidden = is;
    lock();
  };

  // All tabs share one connection to the feed; each takes of it what its own page wants. Where the browser has neither
  // shared workers nor locks, each tab has its own.
  const shared = (address) => {
    const wanted = new URL(address, window.location.href).searchParams;
    const run = wanted.get("run_id");
    const topics = (wanted.get("topics") ?? "*").split(",");
    const wants = ({ topic, of }) => (!run || of.endsWith(`/runs/${run}`) || topic === "stream.reset")
      && topics.some((one) => one.endsWith("*") ? topic.startsWith(one.slice(0, -1)) : one === topic);
    const port = "SharedWorker" in window ? new SharedWorker("/assets/feed.js").port : feedPort();
    const source = new EventTarget();
    const comes = () => port.postMessage("comes");
    const leaves = () => port.postMessage("leaves");
    const opens = () => source.onopen?.(new Event("open"));
    Object.assign(source, { readyState: EventSource.CONNECTING, close: () => { leaves(); port.close(); } });
    port.onmessage = ({ data }) => {
      if (data.lost) connected(false);
      else if (data.open) { connected(true); source.readyState = EventSource.OPEN; opens(); }
      else if (wants(data)) source.dispatchEvent(new MessageEvent(data.topic, { data: data.data, lastEventId: data.id }));
    };
    window.addEventListener("pagehide", leaves);
    window.addEventListener("pageshow", (event) => { if (event.persisted) comes(); });
    // What could not be read while there was no network is read now.
    window.addEventListener("online", opens);
    comes();
    return source;
  };
  const locks = "locks" in navigator && "BroadcastChannel" in window;
  if (("SharedWorker" in window || locks) && window.htmx) window.htmx.createEventSource = shared;

  const title = document.title.replace(/^\(\d+\) /, "");
  let known = null;
  const count = () => {
    const shown = document.querySelector("#list [data-testid=count]") ?? document.querySelector("#waiting [data-count]");
    if (!shown) return;
    const waiting = Number(shown.dataset.count);
    document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
    const icon = document.querySelector("link[rel=icon]");
    if (icon) icon.href = waiting > 0 ? "/assets/icon-open.svg" : "/assets/icon.svg";
    const more = known !== null && waiting > known;
    known = waiting;
    if (more && "Notification" in window && Notification.permission === "granted" && document.hidden) {
      new Notification("A question waits for you", { tag: "irq", body: `${waiting} open` });
    }
  };
  // What is chosen in the list stays chosen when the list is read again: nothing is decided there.
  // What is opened stays open, and what is written or selected stays so, with the cursor where it was. While somebody
  // selects, the part is read again afterwards: the list of a selection would close.
  let chosen = [];
  let opened = [];
  const written = new Map();
  let held = null;
  // What has an id, htmx gives the focus back to. Anything else is found again by what it says.
  const alike = ({ owner, tag, text }) =>
    [...(document.getElementById(owner)?.querySelectorAll(tag) ?? [])].filter((one) => one.textContent === text);
  const place = (element) => {
    const like = { owner: element.closest("[id]").id, tag: element.tagName, text: element.textContent };
    return { ...like, at: alike(like).indexOf(element) };
  };
  const late = new Set();
  document.addEventListener("htmx:beforeSwap", (event) => {
    const active = document.activeElement;
    if (active.tagName === "SELECT" && event.target.contains(active)) {
      event.detail.shouldSwap = false;
      if (late.has(event.target)) return;
      late.add(event.target);
      active.addEventListener("blur", () => {
        late.delete(event.target);
        event.target.dispatchEvent(new Event("late"));
      }, { once: true });
      return;
    }
    const fields = event.target.querySelectorAll("input[id]:not([type=hidden], [type=checkbox]), textarea[id], select[id]");
    for (const field of fields) {
      written.set(field.id, {
        owner: event.target.id, value: field.value, checked: field.checked, active: field === active,
        words: field.matches("textarea, input:not([type=radio])"), name: field.selectedOptions?.[0]?.dataset.name,
        meant: field.closest("details")?.open || [...(field.form?.elements ?? [])].some(changed),
        at: field === active ? [field.selectionStart, field.selectionEnd] : [null, null],
      });
    }
    chosen = [...document.querySelectorAll("#list [name=chosen]:checked")].map((box) => box.value);
    opened = [...document.querySelectorAll("details[id][open]")].map((part) => part.id);
    held = active !== event.target && !active.id && event.target.id && event.target.contains(active) ? place(active) : null;
  });
  // Whom a form is for is chosen by a person alone. An agent that is offered no more stays chosen, and that is said.
  const choose = (select, { value, name, meant }) => {
    if ([...select.options].some((option) => option.value === value)) select.value = value;
    else if (select.dataset.gone && meant) {
      const gone = new Option(`${name ?? value}, ${select.dataset.gone}`, value, true, true);
      Object.assign(gone.dataset, { name: name ?? value, gone: "" });
      select.append(gone);
    }
  };
  const tellGone = (select) => {
    const note = document.getElementById(`${select.id}-gone`);
    if (note) note.hidden = select.selectedOptions[0]?.dataset.gone === undefined;
  };
  document.addEventListener("change", ({ target }) => { if (target.tagName === "SELECT") tellGone(target); });
  // What is written in a form that is taken away is there again with the form, and can be read meanwhile.
  const unsent = (part) => {
    for (const [id, { owner, words, value, meant }] of written) {
      if (!part.id || owner !== part.id || !words || !meant || !value.trim() || document.getElementById(id)) continue;
      const said = `What you had written is not sent: “${value}”. It stands in its field again when there is one.`;
      part.append(Object.assign(document.createElement("p"), { className: "banner", role: "status", textContent: said }));
    }
  };
  document.addEventListener("htmx:afterSwap", ({ target }) => {
    for (const box of document.querySelectorAll("#list [name=chosen]")) {
      if (chosen.includes(box.value)) box.checked = true;
    }
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
    for (const [id, kept] of written) {
      const field = document.getElementById(id);
      const active = kept.active;
      if (kept.owner === target.id) kept.active = false;
      if (!field || !target.contains(field) || !("value" in field)) continue;
      if (field.type === "radio") field.checked = kept.checked;
      else if (field.tagName === "SELECT") { choose(field, kept); tellGone(field); }
      else field.value = kept.value;
      // What was in a part that was closed when it came could not take the focus.
      if (active) field.focus({ preventScroll: true });
      if (kept.at[0] !== null && field.setSelectionRange) field.setSelectionRange(...kept.at);
    }
    if (target.id === "controls") unsent(target);
    if (held && document.activeElement === document.body) alike(held)[held.at]?.focus({ preventScroll: true });
  });
  document.addEventListener("htmx:afterSwap", count);
  count();

  const ask = document.getElementById("notify");
  if (ask && "Notification" in window) {
    const state = document.getElementById("notify-state");
    const show = () => {
      ask.hidden = Notification.permission !== "default";
      if (Notification.permission === "granted") state.textContent = "This browser tells you of new questions.";
      if (Notification.permission === "denied") state.textContent = "This browser was told not to. Change it in its settings.";
    };
    ask.addEventListener("click", () => { Notification.requestPermission().then(show); });
    show();
  }
})();
