"""The ledger: each fault of an entry or an annotation is found, and an annotation finds its function."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ledger  # noqa: E402 (no compiled files beside the sources)

CODE = "core/windlass-tcp/src/a.rs"
TEST = "core/windlass-tcp/tests/a.rs"


def entries(*lines: str) -> tuple[list[ledger.Rfc], list[str]]:
    """The RFCs and faults of a file with these entries."""
    with tempfile.TemporaryDirectory() as folder:
        text = 'title = "A"\nrequirements = [\n' + "".join(f"  {{ {line} }},\n" for line in lines) + "]\n"
        (pathlib.Path(folder) / "rfc5681.toml").write_text(text)
        return ledger.rfcs(pathlib.Path(folder))


GOOD = 'id = "5681-3.1-1", level = "MUST", says = "Grow."'


class Entries(unittest.TestCase):
    def test_status_is_implemented_unless_a_reason_is_given(self):
        known, faults = entries(GOOD, GOOD.replace("3.1-1", "3.1-2") + ', not = "No."', GOOD.replace("3.1-1", "4-1") + ', but = "Only."')
        self.assertEqual(faults, [])
        self.assertEqual([(r.section, r.status, r.remark) for r in known[0].requirements], [("3.1", "implemented", ""), ("3.1", "deliberate", "No."), ("4", "implemented", "Only.")])

    def test_faulty_entries_are_named(self):
        for line, words in [
            (GOOD.replace("5681-", "6298-"), "the id must be 5681-"),
            (GOOD.replace("MUST", "OUGHT"), "needs a level"),
            (GOOD + ', not = "a", open = "b"', "both `not` and `open`"),
            (GOOD + ', scope = "host"', "the scope can only"),
            (GOOD + ', sys = "b"', "unknown key sys"),
        ]:
            _, faults = entries(line)
            self.assertEqual(len(faults), 1, line)
            self.assertIn(words, faults[0])

    def test_an_id_is_used_once(self):
        _, faults = entries(GOOD, GOOD)
        self.assertEqual(faults, ["rfc5681.toml: 5681-3.1-1: the id is used twice"])


class Annotations(unittest.TestCase):
    def test_annotation_above_a_function_or_within_it_names_the_function(self):
        text = "impl A {\n    // RFC 5681-3.1-1, 5681-4-1\n    #[inline]\n    pub(super) fn grow(&self) {\n        let a = 1;\n        // RFC 5681-2-1\n        a + 1\n    }\n}\n"
        places, faults = ledger.annotations(CODE, text)
        self.assertEqual(faults, [])
        self.assertEqual([(p.id, p.line, p.name, p.test) for p in places], [("5681-3.1-1", 2, "grow", False), ("5681-4-1", 2, "grow", False), ("5681-2-1", 6, "grow", False)])

    def test_annotation_above_a_test_is_a_test_in_any_file(self):
        text = "    // RFC 5681-2-1\n    #[test]\n    fn it_grows() {}\n"
        for path in (CODE, TEST):
            places, faults = ledger.annotations(path, text)
            self.assertEqual((faults, [(p.name, p.test) for p in places]), ([], [("it_grows", True)]))

    def test_source_line_of_a_script_is_a_test(self):
        places, faults = ledger.annotations("conformance/scripts/a.script", "title  A\nsource RFC 5681 section 2  # RFC 5681-2-1\n")
        self.assertEqual((faults, places), ([], [ledger.Place("5681-2-1", "conformance/scripts/a.script", 2, "a.script", True)]))

    def test_annotation_at_neither_code_nor_test_is_a_fault(self):
        for path, text in [
            (CODE, "// RFC 5681-2-1\n\nfn a() {}\n"),
            (CODE, "fn a() {\n    // RFC 5681-2-1\n}\n"),
            (TEST, "// RFC 5681-2-1\nfn helper() {}\n"),
            ("integrations/c/src/a.rs", "// RFC 5681-2-1\nfn a() {}\n"),
        ]:
            places, faults = ledger.annotations(path, text)
            self.assertEqual(places, [], text)
            self.assertIn("neither at code nor at a test", faults[0])

    def test_misspelt_annotation_is_a_fault_and_prose_is_not(self):
        _, faults = ledger.annotations(CODE, "// RFC 5681-2-1 and 5681-3-1\nfn a() {}\n// RFC 5681 section 2\nfn b() {}\n")
        self.assertEqual(len(faults), 1)
        self.assertIn("not an annotation", faults[0])


class Comparison(unittest.TestCase):
    def place(self, name: str, test: bool) -> ledger.Place:
        return ledger.Place(name, CODE, 1, "a", test)

    def test_implemented_requirement_needs_code(self):
        known, _ = entries(GOOD)
        self.assertEqual(ledger.compare(known, [self.place("5681-3.1-1", False)]), [])
        self.assertIn("no code has an annotation", ledger.compare(known, [self.place("5681-3.1-1", True)])[0])

    def test_annotation_of_an_unknown_or_an_open_requirement_is_a_fault(self):
        known, _ = entries(GOOD + ', open = "Missing."')
        self.assertIn("is noted as open", ledger.compare(known, [self.place("5681-3.1-1", False)])[0])
        self.assertIn("there is no requirement 5681-9-1", ledger.compare(known, [self.place("5681-9-1", True)])[0])

    def test_counts_are_by_status_and_test(self):
        known, _ = entries(GOOD, GOOD.replace("3.1-1", "3.1-2"), GOOD.replace("3.1-1", "3.1-3") + ', not = "No."')
        count = ledger.counts(known[0], [self.place("5681-3.1-1", True), self.place("5681-3.1-3", True)])
        self.assertEqual([count[key] for key in ("all", "implemented", "tested", "deliberate", "open")], [3, 2, 1, 1, 0])


if __name__ == "__main__":
    unittest.main()
