// The comparison of two pages (verdict, differences, other facts), and the main text of pages.
const facts = readFacts();
const sentence = text => `${text[0].toUpperCase()}${text.slice(1)}.`;
const named = page => h("h3", null, /^https?:/.test(page.page) ? link(page.page) : page.page);
/** Return a fold for each reason, with the text that was left out of a page. */
const leftOut = page => Object.entries(facts.words.left_out).map(([reason, words]) => {
  const texts = page.text.filter(block => block.left_out === reason);
  return texts.length > 0 && fold(`${number(texts.length)} left out: ${words}`, () => h("ul", null, texts.map(block => h("li", null, block.text))));
});

const repeated = page => page.site_text.length > 0 &&
  fold("Repeated by the site", () => h("ul", null, page.site_text.map(piece => h("li", null, piece.text))));

function comparison() {
  const pages = facts.pages;
  const lists = facts.differences.map(({ what, only_in_a: a, only_in_b: b }) => {
    const list = (texts, mark) => texts.map(text => h("p", null, h(mark, null, text)));
    return h("div", null, h("h4", null, facts.words.kinds[what]), sides(list(a, "mark"), list(b, "mark.added")));
  });
  const differs = facts.text.some(pair => !isEqual(pair));
  return [
    h("section", { id: "verdict" }, facts.sentences.map(text => h("p", null, sentence(text))),
      h("p", null, h("small", null, `Rule: ${facts.rule}.`))),
    h("section", { id: "differences" }, h("h2", null, "Differences"), sides(named(pages[0]), named(pages[1])), lists,
      facts.text.length > 0 && h("h4", null, differs ? "text" : "text: no word differs"), paragraphs(facts.text)),
    h("section", { id: "rest" }, h("h2", null, "Both pages"),
      sides(...pages.map((page, place) => [named(page), facts.about[place].map(line => h("p", null, line)), leftOut(page), repeated(page)]))),
  ];
}

function text() {
  return facts.pages.map((page, place) => {
    const parts = [];
    for (let begin = 0, end; begin < page.text.length; begin = end) {
      const isMain = page.text[begin].left_out === null;
      for (end = begin; end < page.text.length && (page.text[end].left_out === null) === isMain; end += 1);
      const run = page.text.slice(begin, end);
      parts.push(isMain ? run.map(block => h("p", null, block.text)) : fold(h("small", null, `${number(run.length)} left out`),
        () => h("ul", null, run.map(block => h("li", null, block.text, " ", h("small", null, facts.words.left_out[block.left_out] ?? block.left_out))))));
    }
    return h("section", null, h("h2", null, page.page), facts.about[place].map(line => h("p.about", null, line)),
      page.fingerprint === null && h("p.warning", null, "There is too little text for a fingerprint."), h("div.text", null, parts),
      repeated(page));
  });
}

const main = document.querySelector("main");
main.append(...(main.id === "text" ? text() : comparison()).flat());
