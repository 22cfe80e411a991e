"""The notes of the check: they only fall, and a merge that leaves two lines of one page takes the lower numbers."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("check", str(pathlib.Path(__file__).with_name("check")))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
loader.exec_module(check)


class Notes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        kept = mock.patch.object(check, "KEPT", pathlib.Path(folder.name) / "kept.txt")
        kept.start()
        self.addCleanup(kept.stop)

    def test_a_note_falls_and_never_rises(self):
        check.KEPT.write_text("     5     2  a.md\n     5     2  b.md\n")
        sums = {"a.md": check.Count(100, 3, 10, 2), "b.md": check.Count(100, 9, 10, 9)}
        check.write(sums, check.noted())
        self.assertEqual(check.noted(), {"a.md": (3, 2), "b.md": (5, 2)})

    def test_the_lower_numbers_of_two_lines_count(self):
        check.KEPT.write_text("     5     2  a.md\n     3     4  a.md\n")
        self.assertEqual(check.noted(), {"a.md": (3, 2)})

    def test_a_page_must_not_exceed_its_note_and_a_crate_may_by_one_percent(self):
        notes = {"docs/src/a.md": (50, 1), "core/a": (1000, 1)}
        self.assertEqual(check.limits("docs/src/a.md", check.Count(), notes), (50, 1))
        self.assertEqual(check.limits("core/a", check.Count(), notes), (1010, 4))

    def test_a_new_page_may_have_one_hit_per_thousand_words(self):
        self.assertEqual(check.limits("docs/src/new.md", check.Count(words=2000, sentences=100), {}), (2, 5))

    def test_a_hit_is_located_with_rule_and_advice(self):
        path = "docs/src/README.md"
        with mock.patch.object(check.texts, "read", return_value=[check.texts.Text("prose", 7, "What a loss resets.")]):
            _, count, hits = check.judge(path)
        self.assertEqual([(hit.line, hit.rule, hit.advice) for hit in hits], [(7, "what-first", "start with the noun")])
        self.assertEqual((count.words, count.sentences), (4, 1))


if __name__ == "__main__":
    unittest.main()
