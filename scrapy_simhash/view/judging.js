// Pairs of pages for the user to judge: both texts side by side, buttons for the answer, and a download of the answers.
const facts = readFacts();
const answers = new Map(facts.answers.map(row => [row.slice(0, 2).join(" "), row]));
const pairs = facts.pairs;
const keyOf = pair => [pair.url, pair.other].sort().join(" ");
let place = 0, saved = answers.size;

const cell = text => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
const csv = () => [["url", "other", "answer"], ...answers.values()].map(row => `${row.map(cell).join(",")}\r\n`).join("");

function download() {
  const url = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  h("a", { href: url, download: "pairs.csv" }).click();
  URL.revokeObjectURL(url);
  saved = answers.size;
}

function answer(word) {
  const pair = pairs[place];
  if (!pair) return;
  answers.set(keyOf(pair), [pair.url, pair.other, word]);
  place += 1;
  show();
}

function back() {
  place = Math.max(0, place - 1);
  show();
}

const KEYS = { s: () => answer("same"), d: () => answer("different"), k: () => answer("skip"), b: back };
const status = h("p.lede", { "aria-live": "polite" });
const shown = h("section");
const button = (name, text, key) => h(`button.${name}`, { type: "button", click: KEYS[key] }, text, " ", h("kbd", null, key));
const buttons = { same: button("same", "Same page", "s"), different: button("different", "Different pages", "d"),
  skip: button("skip", "Skip", "k"), back: button("back", "Back", "b") };
const save = h("button.download", { type: "button", click: download });

function show() {
  const pair = pairs[place], given = pair && answers.get(keyOf(pair));
  status.textContent = pair ? `Pair ${number(place + 1)} of ${number(pairs.length)}. The first pairs matter most, so you can stop at any time.`
    : pairs.length ? "That was the last pair. Download your answers." : "There is no pair to judge.";
  for (const [name, one] of Object.entries(buttons)) {
    one.disabled = name === "back" ? place === 0 : !pair;
    one.setAttribute("aria-pressed", String(given?.[2] === name));
  }
  save.textContent = `Download ${counted(answers.size, "answer")} as CSV`;
  save.disabled = answers.size === 0;
  const head = one => [h("h3", null, pair.titles[one] || "Page " + (one + 1)), h("p", null, one ? link(pair.other, pair.url) : link(pair.url, pair.other))];
  shown.replaceChildren(...(pair ? [sides(head(0), head(1)), pair.text ? paragraphs(pair.text)
    : h("p.lede", null, "The text of this pair is not available. Open both links, or write this page with --pages.")] : []).flat(Infinity));
  scrollTo(0, 0);
}

addEventListener("keydown", event => {
  if (!event.ctrlKey && !event.metaKey && !event.altKey && event.key in KEYS) KEYS[event.key]();
});
addEventListener("beforeunload", event => {
  if (answers.size > saved) event.preventDefault();
});
document.querySelector("main").append(status, h("div.answers", null, Object.values(buttons), save), shown);
show();
