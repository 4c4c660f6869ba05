// Filters and folds. Without this the page says the same.
(() => {
  const all = (root, what) => [...root.querySelectorAll(what)];
  for (const scope of all(document, "[data-scope]")) {
    const form = scope.querySelector("form.filter");
    const items = all(scope, "[data-item]");
    // The innermost groups first, so that those around them know what is left.
    const groups = all(scope, "[data-group]").reverse();
    const texts = new Map();
    const text = (item) => {
      if (!texts.has(item)) {
        const line = item.closest("tbody[data-group]")?.querySelector(".line");
        const own = item.querySelector("summary") ?? item;
        const file = item.closest("details.file")?.querySelector("summary");
        texts.set(item, [file, line, own].map((part) => part?.textContent ?? "").join(" ").toLowerCase());
      }
      return texts.get(item);
    };
    const fold = (open) => {
      for (const details of all(scope, "details[data-group], details[data-item]")) details.open = open;
    };
    const filter = () => {
      const words = form.querySelector("[data-text]").value.toLowerCase().split(/\s+/).filter(Boolean);
      const keys = all(form, "select").filter((select) => select.value).map((select) => [select.dataset.key, select.value]);
      const active = words.length > 0 || keys.length > 0;
      const has = (item, [key, value]) => {
        const own = item.dataset[key] ?? "";
        return own === value || (key === "verdicts" && own.split(" ").includes(value));
      };
      let shown = 0;
      for (const item of items) {
        const fits = keys.every((key) => has(item, key)) && words.every((word) => text(item).includes(word));
        item.hidden = !fits;
        shown += fits ? 1 : 0;
      }
      for (const group of groups) {
        group.hidden = active && !group.querySelector("[data-item]:not([hidden])");
        if (active && group.matches("details")) group.open = !group.hidden;
      }
      form.querySelector("output").value = active ? `${shown} of ${items.length}` : "";
    };
    form.hidden = false;
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const button of all(form, "[data-fold]")) {
      button.addEventListener("click", () => fold(button.dataset.fold === "open"));
    }
  }
  // What is linked to is seen, folded or filtered away as it may be.
  const reveal = () => {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* As it is. */ }
    const target = document.getElementById(id);
    if (!target) return;
    for (let at = target; at; at = at.parentElement) {
      at.hidden = false;
      if (at.matches("details")) at.open = true;
    }
    if (target.matches(".drawn")) target.querySelector("details").open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
  // On paper nothing unfolds; afterwards all is as it was.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all(document, "details:not([open])");
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
})();
