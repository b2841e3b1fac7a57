// The order of search results: pages with the words in their titles come before sections, glossary and text. The numbers
// below `score` are Sphinx's defaults.
var Scorer = {
  score: ([page, title, anchor, description, score, file, kind]) => {
    const asked = (new URLSearchParams(window.location.search).get("q") || "").toLowerCase().match(/\w+/g) || [];
    const isPage = (kind === "title" || kind === "text") && !title.includes(" > ");
    const isAsked = isPage && asked.every((word) => title.toLowerCase().includes(word));
    // A glossary entry comes after the page that has the word as an index entry.
    const isTerm = /^#?term-/.test(anchor || "");
    return score + (isAsked ? 15 : 0) - (isTerm ? 20 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
