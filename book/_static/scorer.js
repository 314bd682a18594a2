// Search: pages that explain come before the reference of names.
var Scorer = {
  score: ([docname, , , , score]) => (docname.startsWith("book/reference") ? score - 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
