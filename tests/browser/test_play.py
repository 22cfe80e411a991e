"""Opens the laboratory for browsers from disk and uses it: drags, types, errs, shares.

The page's path comes from the environment variable WINDLASS_PLAY; see README.md.
"""

import os
import pathlib
import sys
import time
import unittest

import test_report as shared
from test_report import By, Keys, all_of, missing, text_of, wait_for

page = None


def setUpModule():
    global page
    lacking = missing() or ("WINDLASS_PLAY" not in os.environ and "WINDLASS_PLAY, the page that lab/windlass-web/build makes")
    if lacking:
        message = f"SKIPPED: the browser test of the laboratory needs {lacking}"
        print(f"\n{message}\n", file=sys.stderr)
        raise unittest.SkipTest(message)
    page = pathlib.Path(os.environ["WINDLASS_PLAY"]).resolve()
    shared.work = shared.tempfile.TemporaryDirectory(prefix="windlass-browser-", ignore_cleanup_errors=True)
    shared.browser = shared.start()
    unittest.addModuleCleanup(shared.work.cleanup)
    unittest.addModuleCleanup(shared.browser.quit)


def element(name):
    return shared.browser.find_element(By.ID, name)


def script(code, *values):
    return shared.browser.execute_script(code, *values)


def shown():
    """How many runs have been drawn."""
    return int(script("return document.documentElement.dataset.shown ?? 0"))


def open_page(fragment):
    shared.browser.get("about:blank")
    shared.complaints()
    shared.browser.get(page.as_uri() + fragment)
    wait_for(shown, "the first run")


class PlayTest(unittest.TestCase):
    def setUp(self):
        open_page("#example=lossy-download")

    def tearDown(self):
        self.assertEqual(shared.complaints(), [])

    def test_a_run_is_drawn_and_explained_without_a_network(self):
        self.assertGreater(len(all_of("#window svg path")), 5)
        self.assertGreater(len(all_of("details.story")), 0)
        requested = "return performance.getEntriesByType('resource').map((r) => r.name).filter((n) => !n.startsWith('blob:'))"
        self.assertEqual(script(requested), [])

    def test_a_dragged_loss_changes_the_text_and_the_run(self):
        before, said = shown(), text_of(element("summary"))
        slider = all_of("input[type=range][aria-label='Loss of cloud-client']")[0]
        script("arguments[0].value = 250; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", slider)
        wait_for(lambda: 'probability = "1%"' not in element("text").get_attribute("value"), "another text")
        wait_for(lambda: shown() > before and text_of(element("summary")) != said, "another run")
        self.assertIn("# One file over a link", element("text").get_attribute("value"))

    def test_an_open_explanation_stays_open_when_its_run_is_drawn_again(self):
        # The same text is run and drawn again, and once more with its packets when the reader has settled.
        before = shown()
        story = script("""const summary = document.querySelector('#why details.story summary');
            summary.focus();
            summary.click();
            document.getElementById('text').dispatchEvent(new Event('input'));
            return summary.parentElement.id""")
        wait_for(lambda: shown() > before + 1 and all_of("#why details.story[open] figure.ladder"), "the packets")
        self.assertEqual(script("return [...document.querySelectorAll('#why details.story[open]')].map((details) => details.id)"), [story])
        self.assertEqual(script("return document.activeElement.parentElement.id"), story)

    def test_an_error_says_its_place_and_leaves_the_run(self):
        sections = len(all_of("#result > section"))
        text = element("text")
        script("arguments[0].value = arguments[0].value.replace('10Mbps', '10'); arguments[0].dispatchEvent(new Event('input'))", text)
        wait_for(lambda: not element("problem").get_attribute("hidden"), "the error")
        self.assertRegex(text_of(element("problem")), r"Line 17, column \d+: .*has no unit")
        self.assertEqual(len(all_of("#result > section")), sections)

    def test_keys_and_words_are_completed_from_the_schema(self):
        text = element("text")
        script("arguments[0].value += '\\n[stack]\\nsa'; arguments[0].focus(); arguments[0].setSelectionRange(1e6, 1e6)", text)
        text.send_keys(Keys.CONTROL, " ")
        wait_for(lambda: all_of("#completions:not([hidden]) li"), "completions")
        self.assertIn("sack", [text_of(code) for code in all_of("#completions li code")])
        text.send_keys(Keys.CONTROL, Keys.NULL, Keys.ESCAPE)

    def test_a_link_holds_the_scenario(self):
        text = element("text")
        script("arguments[0].value = arguments[0].value.replace('20ms', '35ms'); arguments[0].dispatchEvent(new Event('input'))", text)
        script("document.getElementById('share').click()")
        wait_for(lambda: "#s=" in shared.browser.current_url, "the link")
        link = shared.browser.current_url
        open_page(link[link.index("#"):])
        self.assertIn('delay = "35ms"', element("text").get_attribute("value"))

    def test_a_newcomer_sees_a_sawtooth_asks_why_changes_the_queue_and_shares_it(self):
        """The whole way, with the seconds that the page takes for each step."""
        taken, began = [], time.monotonic()

        def step(what, waited_for):
            nonlocal began
            wait_for(waited_for, what)
            now = time.monotonic()
            taken.append((what, now - began))
            began = now

        def change(selector, value):
            before = shown()
            control = all_of(selector)[0]
            script("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}));"
                   "arguments[0].dispatchEvent(new Event('change', {bubbles: true}))", control, value)
            return lambda: shown() > before

        open_page("#example=dumbbell")
        step("the page is open and its first run drawn", shown)
        algorithm = "#knobs select"
        step("CUBIC is chosen", change(algorithm, "cubic"))
        self.assertIn("cubic", element("text").get_attribute("value"))
        curve = "return document.querySelector('#window .mark-line path').getAttribute('d').length"
        self.assertGreater(script(curve), 100)

        def explained():
            script("const story = document.querySelector('#why details.story'); if (!story.open) story.querySelector('summary').click()")
            return all_of("#why details.story[open] p")

        step("a cut is explained", explained)
        said = text_of(all_of("#why details.story[open]")[0])
        self.assertRegex(said, "queue|RFC")
        queue = "input[type=range][aria-label^='Queue']"
        step("the queue is changed", change(queue, 200))
        script("document.getElementById('share').click()")
        step("the link is there", lambda: "#s=" in shared.browser.current_url)
        print("".join(f"\n  {seconds:5.1f} s  {what}" for what, seconds in taken), file=sys.stderr)

    def test_a_run_that_finds_no_room_says_so_and_another_failure_says_its_own(self):
        failure = """const { failure } = new Function(`${document.getElementById('engine').textContent}; return { failure };`)();
            return [3 * 2 ** 30, 2 ** 20].map((byteLength) => failure(new WebAssembly.RuntimeError('unreachable'), { buffer: { byteLength } }))"""
        full, other = script(failure)
        self.assertIn("3.0 of the 4 GiB", full)
        self.assertEqual(other, "unreachable")

    def test_nothing_is_wider_than_a_phone(self):
        shared.browser.set_window_size(420, 900)
        try:
            wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            self.assertLessEqual(script(wide), 0)
        finally:
            shared.browser.set_window_size(1100, 1000)


if __name__ == "__main__":
    unittest.main()
