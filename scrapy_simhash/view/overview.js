"use strict";
(() => {
  const overview = document.getElementById("overview");
  let sorted = null;

  // --- Searching and sorting the clusters.

  const rows = () => [...document.querySelectorAll("#clusters-table > tbody > tr")];
  const texts = new WeakMap();
  const textOf = row => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };

  function search() {
    const field = document.getElementById("search");
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    const all = rows();
    for (const row of all) {
      row.hidden = !wanted.every(word => textOf(row).includes(word));
      found += !row.hidden;
    }
    const told = wanted.length ? `${found.toLocaleString("en")} of ${all.length.toLocaleString("en")} clusters` : "";
    document.querySelector(".search output").textContent = told;
  }

  const valueOf = (row, place) => {
    const text = row.cells[place].textContent.trim();
    return place < 3 ? (text === "" ? -1 : Number(text.replaceAll(",", ""))) : text;
  };

  function sort(place, isDown) {
    sorted = { place, isDown };
    const compare = (one, other) => {
      const [a, b] = [valueOf(one, place), valueOf(other, place)];
      return (a < b ? -1 : a > b ? 1 : 0) * (isDown ? -1 : 1);
    };
    document.querySelector("#clusters-table > tbody").append(...rows().sort(compare));
    document.querySelectorAll("#clusters-table th").forEach((head, number) => {
      if (number === place) head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  function prepare() {
    const field = document.getElementById("search");
    if (!field) return;
    field.parentElement.hidden = false;
    field.addEventListener("input", search);
    document.querySelectorAll("#clusters-table th").forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(place, head.getAttribute("aria-sort") !== "descending"));
      head.append(button);
    });
  }

  // --- From a figure to its examples.

  function reveal() {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    for (let outer = target; outer; outer = outer.parentElement)
      if (outer.tagName === "DETAILS") outer.open = true;
    if (target && location.hash.length > 1) target.scrollIntoView();
  }

  addEventListener("keydown", event => {
    const field = document.getElementById("search");
    if (!field || event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = document.activeElement instanceof HTMLInputElement;
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && document.activeElement === field) {
      field.value = "";
      search();
    }
  });

  // --- A crawl that runs: the page is fetched again, and what was opened, typed and sorted stays.

  const nameOf = details => {
    const row = details.closest("tr");
    const first = row && row.querySelector("summary");
    return first ? `row ${first.textContent}` : `${details.closest("section")?.id} ${details.parentElement.tagName}`;
  };

  function renew(text) {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("overview");
    const opened = new Set([...overview.querySelectorAll("details[open]")].map(nameOf));
    const field = document.getElementById("search");
    const typed = field ? field.value : "";
    const selection = field && document.activeElement === field ? [field.selectionStart, field.selectionEnd] : null;
    const [left, top] = [scrollX, scrollY];
    overview.replaceChildren(...fresh.childNodes);
    for (const details of overview.querySelectorAll("details")) details.open = opened.has(nameOf(details));
    prepare();
    const again = document.getElementById("search");
    if (again) {
      again.value = typed;
      if (sorted) sort(sorted.place, sorted.isDown);
      search();
      if (selection) {
        again.focus({ preventScroll: true });
        again.setSelectionRange(...selection);
      }
    }
    scrollTo(left, top);
  }

  async function follow(seconds) {
    let tag = "";
    for (let failures = 0; failures < 3;) {
      await new Promise(resolve => setTimeout(resolve, seconds * 1000));
      if (document.hidden) continue;
      try {
        const answer = await fetch("/", tag ? { headers: { "If-None-Match": tag } } : {});
        failures = 0;
        tag = answer.headers.get("ETag") ?? "";
        if (answer.status === 200) renew(await answer.text());
      } catch {
        failures += 1;
      }
    }
    const state = document.querySelector(".state");
    if (state) {
      state.textContent = "The crawl does not answer any more: it has ended. This is what it said last.";
      state.classList.add("over");
    }
  }

  prepare();
  reveal();
  addEventListener("hashchange", reveal);
  if (overview.dataset.live) follow(Number(overview.dataset.live));
})();
