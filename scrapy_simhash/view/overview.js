// The overview of a crawl: findings, doubtful pairs, clusters, decisions, other facts.
let facts = readFacts();
const SHOWN = 50, PAIRS = 3;
const parts = Object.fromEntries(["opening", "findings", "doubtful", "clusters", "decisions", "rest"]
  .map(id => [id, h("section", { id })]));

const heading = text => h("h2", null, text);
const pairOf = example => h("p", null, link(example.url, example.other ?? undefined),
  example.other && [h("br"), h("small", null, "like "), link(example.other, example.url)]);
const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
const isTypable = (a, b) => isWeb(a) && isWeb(b) && a.length + b.length <= LONGEST_SHOWN;
const command = (a, b) => isTypable(a, b) && fold(h("small", null, "Which words differ?"),
  () => h("code", null, `scrapy-simhash compare ${quoted(a)} ${quoted(b)}`));

function likeness(pair) {
  if (pair.exact) return "identical text";
  const told = [];
  if (pair.similarity !== null) told.push(`similarity ${digits(pair.similarity)}`);
  if (pair.distance !== null) told.push(`distance ${pair.distance}`);
  if (pair.threshold !== null) told.push(`threshold ${digits(pair.threshold)}`);
  return told.join(", ");
}

function opening() {
  const shown = text => text.replace("T", " ").replace("Z", " UTC");
  const span = facts.start && `${shown(facts.start)} to ${shown(facts.end)}`;
  const tiles = [
    ["Pages", facts.pages], ["New", facts.status.new ?? 0, true], ["Near-duplicates", facts.near_duplicates, true],
    ["Identical text", facts.identical, true], ["Clusters", facts.clusters],
  ];
  const bad = facts.bad_lines;
  return [
    h("p.source", null, h("bdi", null, facts.source), span && h("small", null, span)),
    document.body.dataset.live && h("p.state", { role: "status" }, "Following the file: this page updates itself."),
    bad.count > 0 && h("p.warning", null, `Unreadable lines, which are left out: ${number(bad.count)}. The first is line ${bad.lines[0]}.`),
    facts.pages === 0 ? h("p", null, "The report has no pages yet.") : h("ul.tiles", null, tiles.map(([name, count, hasShare]) =>
      h("li", null, h("span", null, name), h("strong", null, number(count), hasShare && h("small", null, ` ${percent(count, facts.pages)}`))))),
  ];
}

const findings = () => facts.findings.length > 0 &&
  [heading("Findings"), h("ul", null, facts.findings.map(sentence => h("li", null, sentence)))];

function doubtful() {
  const row = pair => h("li", null,
    h("p.pair", null, link(pair.url, pair.other), h("br"), link(pair.other, pair.url)),
    h("small", null, likeness(pair)), command(pair.url, pair.other));
  const kind = (isNear, name) => {
    const pairs = facts.doubtful.filter(pair => pair.is_near_duplicate === isNear);
    const list = given => h("ul.pairs", null, given.map(row));
    return pairs.length > 0 && [h("h3", null, name), list(pairs.slice(0, PAIRS)),
      pairs.length > PAIRS && fold(`${pairs.length - PAIRS} more`, () => list(pairs.slice(PAIRS)))];
  };
  return facts.doubtful.length > 0 && [
    heading("Doubtful pairs"),
    h("p.lede", null, "Are these the same page? Judge some pairs with ", h("code", null, "scrapy-simhash tune"), " to choose the setting for this site. ",
      "The threshold of a pair is the greatest ", h("code", null, "SIMHASH_MIN_SIMILARITY"), " at which the two pages are near-duplicates."),
    kind(true, "Near-duplicates that are least similar"), kind(false, "New pages that are most similar to another page"),
  ];
}

// --- Clusters: the search field stays, the rows are replaced.

const textOf = cluster => [cluster.first, cluster.preferred, ...cluster.members.map(member => member.url)].join(" ").toLowerCase();
const opened = new Set();
const search = h("input", { id: "search", type: "search", autocomplete: "off", spellcheck: "false", input: () => showClusters() });
const found = h("output", { for: "search", "aria-live": "polite" });
const note = h("p.lede");
const rows = h("div", { id: "clusters-table" });

function members(cluster) {
  const rest = cluster.pages - 1 - cluster.members.length, [least] = cluster.members;
  return [
    h("p", null, "Seen first: ", link(cluster.first)),
    cluster.preferred !== cluster.first && h("p", null, "Preferred URL: ", link(cluster.preferred, cluster.first)),
    h("ul", null, cluster.members.map(member => h("li", null, link(member.url, cluster.first), h("small.why", null, likeness(member)))),
      rest > 0 && h("li", null, h("small", null, `${number(rest)} more`))),
    least && !least.exact && command(cluster.first, least.url),
  ].filter(Boolean);
}

function row(cluster) {
  const toggled = isOpen => isOpen ? opened.add(cluster.first) : opened.delete(cluster.first);
  const least = cluster.members[0]?.threshold ?? null;
  return [cluster.pages, cluster.identical, least === null ? "" : Math.floor(100 * least) / 100,
    fold(h("bdi", null, shortened(cluster.first)), () => members(cluster), opened.has(cluster.first), toggled)];
}

function showClusters() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = facts.largest_clusters;
  const matching = all.filter(cluster => words.every(word => textOf(cluster).includes(word)));
  found.textContent = words.length ? `${number(matching.length)} of ${counted(all.length, "cluster")}` : "";
  note.textContent = (all.length < facts.clusters ? `The largest ${number(all.length)} of ${number(facts.clusters)}. ` : "") +
    "Open a cluster to see its least similar pages; the parts of their URLs that differ are marked.";
  rows.replaceChildren(table(["pages", "identical", "least similar", "first page"], matching.map(row), SHOWN));
}

function decisions() {
  const names = { status: "Results", action: "Actions", protected: "Protected pages", reason: "Reasons, and changes of known pages" };
  const tables = Object.entries(names).filter(([key]) => Object.keys(facts[key]).length > 0).map(([key, name]) => [
    h("h3", null, name),
    table(["", "pages", "examples"], Object.entries(facts[key]).map(([value, count]) => [
      [h("code", null, value), facts.words[key][value] && h("small.why", null, facts.words[key][value])], count,
      fold("examples", () => facts.examples[key][value].map(pairOf))])),
  ]);
  return tables.length > 0 && [heading("Decisions"), tables];
}

function patterns() {
  const rows = facts.url_patterns.filter(row => row.near_duplicates > 0).map(row => [h("code", null, row.pattern), row.pages,
    row.near_duplicates, percent(row.near_duplicates, row.pages), row.example && fold("example", () => pairOf(row.example))]);
  return rows.length > 0 && [heading("Where near-duplicates come from"),
    table(["URLs", "pages", "near-duplicates", "share", "example"], rows, 10)];
}

function show() {
  const has = facts.pages > 0;
  const made = { opening: opening(), findings: findings(), doubtful: doubtful(), decisions: decisions(),
    rest: patterns() };
  for (const [id, content] of Object.entries(made)) {
    const children = [has || id === "opening" ? content : []].flat(Infinity).filter(Boolean);
    parts[id].replaceChildren(...children);
    parts[id].hidden = children.length === 0;
  }
  parts.clusters.hidden = facts.clusters === 0;
  if (facts.clusters > 0) showClusters();
}

/** Fetch the data periodically; open folds and the search are kept. */
async function follow(seconds) {
  for (let failures = 0, last = ""; failures < 3;) {
    await new Promise(resolve => setTimeout(resolve, seconds * 1000));
    if (document.hidden) continue;
    try {
      const text = await (await fetch("/data.json")).text();
      failures = 0;
      if (text !== last) {
        last = text;
        facts = JSON.parse(text);
        show();
      }
    } catch {
      failures += 1;
    }
  }
  delete document.body.dataset.live;
  parts.opening.append(h("p.warning", null, "The server was stopped. This page shows its last data."));
}

parts.clusters.append(heading("Clusters"), note, h("p.search", null, h("label", { for: "search" }, "Search URLs"), " ", search, " ", found), rows);
document.getElementById("overview").append(...Object.values(parts));
if (facts.refresh) document.body.dataset.live = facts.refresh;
show();
if (facts.refresh) follow(facts.refresh);
