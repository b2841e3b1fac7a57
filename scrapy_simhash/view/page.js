"use strict";
// Characters that move or reverse other text, or are invisible: controls, direction marks, tags, surrogates.
const HIDDEN = new RegExp(
  "[^ -~\\u00a1-\\u{10ffff}]|[\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f]|" +
  "[\\ud800-\\udfff\\ufeff\\ufff9-\\uffff]|[\\u{e0000}-\\u{e0fff}]", "gu");
const LONGEST_SHOWN = 300;

const readFacts = () => JSON.parse(document.getElementById("facts").textContent);
const visible = text => text.replace(HIDDEN, sign => `\\u{${sign.codePointAt(0).toString(16)}}`);
const number = count => count.toLocaleString("en");
const counted = (count, name) => `${number(count)} ${name}${count === 1 ? "" : "s"}`;

/** Return an element: h("td.n", {title: "..."}, "text", another). Strings become text; hidden characters are shown. */
function h(tag, values, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(values ?? {})) {
    if (key === "style") Object.assign(element.style, value);
    else if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : visible(String(child)));
  return element;
}

const shortened = text =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 60)}...${text.slice(-57)}` : text;
const isWeb = url => /^https?:\/\/[^\s<>"]+$/i.test(url) && visible(url) === url;

/** Return the three parts of a URL: the beginning that it shares with another URL, the difference, and the common
 * end. */
function difference(url, other) {
  const least = Math.min(url.length, other.length), isWord = sign => /[^/?&=#.:;_-]/.test(sign ?? "/");
  let begin = 0, end = 0;
  while (begin < least && url[begin] === other[begin]) begin += 1;
  while (begin > 0 && isWord(url[begin - 1]) && (isWord(url[begin]) || isWord(other[begin]))) begin -= 1;
  while (end < least - begin && url.at(-1 - end) === other.at(-1 - end)) end += 1;
  while (end > 0 && isWord(url.at(-end)) && (isWord(url.at(-1 - end)) || isWord(other.at(-1 - end)))) end -= 1;
  return [url.slice(0, begin), url.slice(begin, url.length - end), url.slice(url.length - end)];
}

/** Return a URL, as a link if it is a web URL, with differences from the other URL marked. */
function link(url, other = url) {
  const isShort = url.length <= LONGEST_SHOWN && other.length <= LONGEST_SHOWN;
  const [begin, middle, end] = difference(url, other);
  const parts = other === url || !isShort ? shortened(url) : [begin, middle && h("mark", null, middle), end];
  return h("bdi", null, isWeb(url) ? h("a", { href: url, rel: "noreferrer nofollow" }, parts) : parts);
}

/** Return a fold whose content is created when it is first opened. */
function fold(summary, make, isOpen = false, toggled = () => {}) {
  const details = h("details", { open: isOpen }, h("summary", null, summary));
  let isMade = false;
  const fill = () => {
    if (details.open && !isMade) {
      isMade = true;
      details.append(...[make()].flat(Infinity));
    }
    toggled(details.open);
  };
  details.addEventListener("toggle", fill);
  if (isOpen) fill();
  return details;
}

const textOfCell = cell => [cell].flat(Infinity).map(part => part?.textContent ?? part ?? "").join("");

/** Return a table with right-aligned numbers, sorted by the column whose heading is clicked.
 *
 * On a phone the name of the column precedes each cell. */
function table(heads, rows, shows = Infinity) {
  const isNumeric = place => rows.some(row => typeof row[place] === "number");
  const whole = h("div"), sorted = { place: -1, isDown: false };
  const compare = (one, other) => {
    const [a, b] = (sorted.isDown ? [other, one] : [one, other]).map(row => row[sorted.place]);
    return typeof a === "number" && typeof b === "number" ? a - b : textOfCell(a).localeCompare(textOfCell(b), "en", { numeric: true });
  };
  const sort = place => {
    sorted.isDown = sorted.place === place ? !sorted.isDown : isNumeric(place);
    sorted.place = place;
    rows.sort(compare);
    show();
    whole.querySelectorAll("th button")[heads.slice(0, place).filter(Boolean).length].focus();
  };
  const heading = (head, place) => h(isNumeric(place) ? "th.n" : "th",
    { scope: "col", "aria-sort": sorted.place === place && (sorted.isDown ? "descending" : "ascending") },
    head && rows.length > 1 ? h("button", { type: "button", click: () => sort(place) }, head) : head);
  const line = row => h("tr", null, row.map((cell, place) => typeof cell === "number"
    ? h("td.n", { "data-head": heads[place] }, number(cell)) : h("td", null, cell)));
  const made = given => h("table", null, h("thead", null, h("tr", null, heads.map(heading))), h("tbody", null, given.map(line)));
  const show = () => whole.replaceChildren(...[made(rows.slice(0, shows)),
    rows.length > shows && fold(`${number(rows.length - shows)} more`, () => made(rows.slice(shows)))].filter(Boolean));
  show();
  return whole;
}

const percent = (part, whole) => `${Math.round(100 * part / whole)}%`;
const digits = value => value.toFixed(3).replace(/\.?0+$/, "");

// --- Two texts side by side.

const sides = (a, b) => h("div.sides", null, h("div", null, a), h("div", null, b));
const isEqual = pair => [...pair.a, ...pair.b].every(([, isCommon]) => isCommon);
const side = (pieces, mark) => h("p", null,
  pieces.map(([text, isCommon], place) => [place > 0 && " ", isCommon || !text ? text : h(mark, null, text)]));

/** Return the paragraphs of two texts; runs of equal paragraphs are folded. */
function paragraphs(pairs) {
  const shown = [];
  for (let begin = 0, end; begin < pairs.length; begin = end) {
    const same = isEqual(pairs[begin]);
    for (end = begin; end < pairs.length && isEqual(pairs[end]) === same; end += 1);
    const run = pairs.slice(begin, end);
    shown.push(same ? fold(h("small", null, counted(run.length, "equal paragraph")), () => run.map(pair => side(pair.a, "mark")))
      : run.map(pair => sides(side(pair.a, "mark"), side(pair.b, "mark.added"))));
  }
  return shown;
}
