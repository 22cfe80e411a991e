"""Opens the book in a headless browser, without a network, on a desk's screen and on a phone's.

docs/build writes the book; what the test needs besides stands in README.md.
"""

import pathlib
import shutil
import sys
import tempfile
import unittest

from test_report import BROWSERS, FLAGS, WAIT_S, By, Service, WebDriverWait, first_found, missing, webdriver

BOOK = pathlib.Path(__file__).resolve().parents[2] / "docs/book"
PHONE, DESK = 420, 1400
# The page cuts off what is too wide; code and tables scroll within themselves.
TOO_WIDE = """return [...document.querySelectorAll("main > *")]
    .filter(part => part.getBoundingClientRect().right > innerWidth + 1).map(part => part.outerHTML.slice(0, 80))"""

browser = None


def setUpModule():
    global browser
    lacking = missing() or (None if (BOOK / "index.html").is_file() else "the book (docs/build)")
    if lacking:
        message = f"SKIPPED: the browser test of the book needs {lacking}"
        print(f"\n{message}\n", file=sys.stderr)
        raise unittest.SkipTest(message)
    work = tempfile.TemporaryDirectory(prefix="windlass-book-", ignore_cleanup_errors=True)
    options = webdriver.ChromeOptions()
    options.binary_location = first_found(BROWSERS)
    for flag in (*FLAGS, f"--user-data-dir={work.name}/profile"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    unittest.addModuleCleanup(work.cleanup)
    unittest.addModuleCleanup(browser.quit)


def pages():
    """The pages of the book. play.html is the laboratory, which the second build of the book embeds."""
    every = BOOK.rglob("*.html")
    return sorted(page for page in every if page.name not in ("print.html", "404.html", "toc.html", "play.html"))


def width(pixels):
    # A window has a least width; what the page sees has none.
    metrics = {"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


class Book(unittest.TestCase):
    def test_search_finds_an_algorithm_without_a_network(self):
        width(DESK)
        browser.get(f"{BOOK.as_uri()}/index.html?search=cubic")
        found = (By.CSS_SELECTOR, "#mdbook-searchresults a, #searchresults a")
        WebDriverWait(browser, WAIT_S).until(lambda b: b.find_elements(*found), "no result of a search")
        titles = [link.text for link in browser.find_elements(*found)]
        self.assertTrue(any("CUBIC" in title for title in titles), titles)

    def test_no_page_is_wider_than_the_screen(self):
        for pixels in (DESK, PHONE):
            width(pixels)
            for page in pages():
                browser.get(page.as_uri())
                self.assertEqual(browser.execute_script(TOO_WIDE), [], page.relative_to(BOOK))

    def test_every_page_has_a_title_and_its_pictures(self):
        width(DESK)
        for page in pages():
            browser.get(page.as_uri())
            self.assertTrue(browser.find_elements(By.CSS_SELECTOR, "main h1"), page.relative_to(BOOK))
            for picture in browser.find_elements(By.CSS_SELECTOR, "main img"):
                self.assertGreater(int(picture.get_property("naturalWidth")), 0, picture.get_attribute("src"))
                self.assertTrue(picture.get_attribute("alt"), picture.get_attribute("src"))

    def test_nothing_complains_on_the_console(self):
        browser.get_log("browser")
        browser.get((BOOK / "start/first-run.html").as_uri())
        self.assertEqual([entry["message"] for entry in browser.get_log("browser")], [])

    @unittest.skipUnless((BOOK / "play.html").is_file(), "the laboratory was not built before the book")
    def test_the_laboratory_of_three_pages_runs_the_scenario_of_its_page(self):
        width(DESK)
        for page, scenario in (("first-run", "250kbps"), ("compare", "250kbps"), ("browser", "cloud")):
            browser.get((BOOK / f"start/{page}.html").as_uri())
            frame = browser.find_element(By.CSS_SELECTOR, "iframe.windlass-play")
            browser.execute_script("arguments[0].scrollIntoView()", frame)
            browser.switch_to.frame(frame)
            drawn = "return Number(document.documentElement.dataset.shown ?? 0) > 0"
            WebDriverWait(browser, WAIT_S).until(lambda b: b.execute_script(drawn), f"{page}: no run was drawn")
            self.assertIn(scenario, browser.find_element(By.ID, "text").get_attribute("value"))
            browser.switch_to.default_content()


if __name__ == "__main__":
    unittest.main()
