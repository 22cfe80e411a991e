"""Opens the page of a run in a headless browser and asks it why a window fell; weighs and times a page of a million points.

The pages' paths come from the environment variables WINDLASS_RUN_PAGE and WINDLASS_MILLION; see README.md.
"""

import os
import pathlib
import re
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


class MillionTest(unittest.TestCase):
    @unittest.skipIf("WINDLASS_MILLION" not in os.environ or shared.FIREFOX, "WINDLASS_MILLION is not set, or this is Firefox, which tells no times")
    def test_a_page_of_a_million_points_is_small_and_drawn_in_a_second_of_a_processor(self):
        page = pathlib.Path(os.environ["WINDLASS_MILLION"]).resolve()
        text = page.read_text(encoding="utf-8")
        self.assertLess(len(text.encode()), 3e6)
        points = sum(int(all_of_them) for all_of_them in re.findall(r"\d+ of (\d+) points are drawn", text))
        self.assertGreater(points, 1e6)
        shared.browser.get("about:blank")
        shared.browser.execute_cdp_cmd("Performance.enable", {})
        before = self.thread_time()
        shared.browser.get(page.as_uri())
        wait_for(lambda: shared.browser.execute_script("return document.documentElement.dataset.charts"), "the charts")
        # The seconds of a clock depend on what else the machine does.
        taken = self.thread_time() - before
        print(f"\n  {points} points: {len(text.encode()) / 1e6:.2f} MB, drawn in {taken:.2f} s of a processor", file=sys.stderr)
        self.assertLess(taken, 1)

    def thread_time(self):
        metrics = shared.browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "ThreadTime")


if __name__ == "__main__":
    unittest.main()
