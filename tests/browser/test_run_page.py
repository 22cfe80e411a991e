"""Opens the page of a run in a headless browser and asks it why a window fell.

The page's path comes from the environment variable WINDLASS_RUN_PAGE; see README.md.
"""

import os
import pathlib
import sys
import unittest

import test_report as shared
from test_report import By, all_of, missing, text_of, wait_for

page = None


def setUpModule():
    global page
    lacking = missing() or ("WINDLASS_RUN_PAGE" not in os.environ and "WINDLASS_RUN_PAGE, the page of a run")
    if lacking:
        message = f"SKIPPED: the browser test of a run's page needs {lacking}"
        print(f"\n{message}\n", file=sys.stderr)
        raise unittest.SkipTest(message)
    page = pathlib.Path(os.environ["WINDLASS_RUN_PAGE"]).resolve()
    shared.work = shared.tempfile.TemporaryDirectory(prefix="windlass-browser-", ignore_cleanup_errors=True)
    shared.browser = shared.start()
    unittest.addModuleCleanup(shared.work.cleanup)
    unittest.addModuleCleanup(shared.browser.quit)


class RunPageTest(unittest.TestCase):
    def setUp(self):
        shared.browser.get("about:blank")
        shared.complaints()
        shared.browser.get(page.as_uri())
        drawn = "return document.documentElement.dataset.charts"
        wait_for(lambda: shared.browser.execute_script(drawn), "the charts to be drawn")

    def tearDown(self):
        self.assertEqual(shared.complaints(), [])

    def ticks(self, chart):
        figure = shared.browser.find_element(By.ID, chart)
        labels = all_of(".role-axis-label", figure)[0]
        return sorted(text_of(label) for label in all_of("text", labels))

    def test_the_charts_of_a_run_are_zoomed_together(self):
        before = {chart: self.ticks(chart) for chart in ("window", "rtt", "rate")}
        self.assertEqual(before["window"], before["rtt"])
        shared.browser.execute_script("document.querySelector('#window [data-zoom-by=\"0.5\"]').click()")
        wait_for(lambda: self.ticks("rtt") != before["rtt"], "the other charts to follow")
        wait_for(lambda: self.ticks("window") == self.ticks("rtt"), "the charts to agree")

    def test_a_symbol_above_the_window_opens_its_explanation(self):
        symbols = all_of("#window .mark-symbol path[aria-label], #window .mark-symbol path")
        self.assertGreater(len(symbols), 0)
        self.assertEqual(all_of("details.story[open]"), [])
        clicked = shared.browser.execute_script(
            """for (const path of document.querySelectorAll('#window .mark-symbol path')) {
                 const item = path.__data__;
                 if (!item || !item.href) continue;
                 path.dispatchEvent(new MouseEvent('click', {bubbles: true}));
                 return item.href;
               }"""
        )
        self.assertIsNotNone(clicked)
        story = shared.browser.find_element(By.ID, clicked[1:])
        wait_for(lambda: story.get_attribute("open") is not None, "the explanation to open")
        self.assertIn("flow", text_of(story))

    def test_every_explanation_says_when_and_what_the_network_did(self):
        stories = all_of("details.story")
        self.assertGreater(len(stories), 0)
        for story in stories:
            self.assertRegex(text_of(story), r"\d\.\d{6} s")

    def test_several_seeds_are_drawn_as_bands_around_their_median(self):
        bands = all_of("#seeds figure.chart .mark-area path")
        self.assertGreater(len(bands), 0)
        self.assertEqual(len(all_of("#seeds figure.chart .failure")), 0)

    def test_nothing_is_wider_than_a_phone(self):
        shared.browser.set_window_size(420, 900)
        try:
            wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            self.assertLessEqual(shared.browser.execute_script(wide), 0)
        finally:
            shared.browser.set_window_size(1100, 1000)


if __name__ == "__main__":
    unittest.main()
