"""The third example, run as a user runs it: an index of which only the pieces are touched that have changed."""

from tests.crawls.harness import ROOT, forked

PRINTED = """\
Crawl 1: 8 pieces, 0 of them untouched
  + /              All the news of the harbour.
  + /bridge        The new bridge is open to all who walk, and on the
  + /bridge        Nobody has to pay for it, which the council had pr
  + /ferry         The last wooden ferry came out of the water on a g
  + /ferry         The captain still knows the three days on which sh
  + /ferry         She will stay on the slip until the summer, when t
  + /fog           There was fog on eleven days of May, more than in 
  + /fog           The lamp at the end of the pier has a new lens, an
  new          /
  new          /bridge
  new          /ferry
  new          /fog
Crawl 2: 8 pieces, 7 of them untouched
  - /ferry         She will stay on the slip until the summer, when t
  + /ferry         The town has said what is to become of her: she wi
  changed      /ferry
Crawl 3: 8 pieces, 4 of them untouched
  - /bridge        The new bridge is open to all who walk, and on the
  - /bridge        Nobody has to pay for it, which the council had pr
  - /fog           There was fog on eleven days of May, more than in 
  - /fog           The lamp at the end of the pier has a new lens, an
  + /lamp          The lamp at the end of the pier has a new lens, an
  + /lamp          The last wooden ferry came out of the water on a g
  + /river/bridge  The new bridge is open to all who walk, and on the
  + /river/bridge  Nobody has to pay for it, which the council had pr
  moved        /river/bridge (was /bridge)
  new          /lamp
  new          /river/bridge
  not_seen     /fog
"""  # noqa: W291


def test_only_pieces_that_changed_are_touched() -> None:
    done = forked("search.py", cwd=ROOT / "example_project")
    assert (done.stdout, done.returncode) == (PRINTED, 0), done.stderr
