"""Holds the pages to axe-core's rules (WCAG 2 and its best practices), in light and dark, on a desk's screen and on a phone's.

The pages come from the environment, as those of the other tests; see README.md.
"""

import os
import pathlib
import sys
import unittest

import test_report as shared
from test_book import DESK, PHONE
from test_report import missing, wait_for

try:
    import axe_core_python
except ImportError:
    axe_core_python = None

PAGES = ("WINDLASS_REPORT", "WINDLASS_RUN_PAGE", "WINDLASS_PLAY")
# The laboratory's page has charts once it has made a run, and dims them while a long run replaces them.
READY = """const {charts, shown} = document.documentElement.dataset;
const isOld = document.getElementById('result')?.classList.contains('old');
return document.getElementById('module') ? shown > 0 && !isOld : charts === 'drawn'"""
# Of the rules only that about colours depends on the scheme.
VIEWS = [(scheme, width, rules) for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})) for width in (DESK, PHONE)]
FOUND = """const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"], ...arguments[0]}).then(found => done(found.violations.map(rule =>
    `${rule.id}: ${rule.help} (${rule.nodes.length}), such as ${rule.nodes[0].html.slice(0, 200)}`)))"""


def setUpModule():
    lacking = missing() or (shared.FIREFOX and "Chromium, whose screens and colours are emulated") or (axe_core_python is None and "axe-core-python (tests/browser/requirements.txt)")
    if lacking:
        message = f"SKIPPED: the test of accessibility needs {lacking}"
        print(f"\n{message}\n", file=sys.stderr)
        raise unittest.SkipTest(message)
    shared.work = shared.tempfile.TemporaryDirectory(prefix="windlass-axe-", ignore_cleanup_errors=True)
    shared.browser = shared.start()
    unittest.addModuleCleanup(shared.work.cleanup)
    unittest.addModuleCleanup(shared.browser.quit)


class AccessibilityTest(unittest.TestCase):
    def test_no_page_violates_a_rule(self):
        rules = pathlib.Path(axe_core_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
        pages = [pathlib.Path(os.environ[name]).resolve() for name in PAGES if name in os.environ]
        self.assertTrue(pages)
        for page in pages:
            for scheme, width, options in VIEWS:
                with self.subTest(page=page.name, scheme=scheme, width=width):
                    self.assertEqual(self.violations(page, scheme, width, rules, options), [])

    def violations(self, page, scheme, width, rules, options):
        size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        shared.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        shared.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        shared.browser.get(page.as_uri())
        is_ready = lambda: shared.browser.execute_script(READY)
        wait_for(is_ready, "the page")
        shared.browser.execute_script(rules)
        shared.browser.set_script_timeout(120)
        found = shared.browser.execute_async_script(FOUND, options)
        # A run that took long on a busy machine has dimmed the page meanwhile.
        return found if is_ready() else self.violations(page, scheme, width, rules, options)
