"""The built site in Chromium, where PySide6 has brought it along: QtWebEngine.

``pip install PySide6-Addons==6.8.*`` is 400 MB on disk, so that CI does without.
"""

import json
import subprocess
import sys

import pytest
from test_site import SITE, is_built

pytest.importorskip("PySide6.QtWebEngineCore")
pytestmark = [
    pytest.mark.skipif(not is_built(), reason="`make docs` builds the site anew"),
    pytest.mark.slow,
]
# Opens each address in turn, at a width, and prints what a script then answers.
BROWSER = """
import json, os, sys
os.environ |= {"QT_QPA_PLATFORM": "offscreen", "QTWEBENGINE_DISABLE_SANDBOX": "1"}
os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = "--disable-gpu"
from PySide6.QtCore import QTimer, QUrl
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QApplication

width, script, *addresses = json.load(sys.stdin)
app = QApplication([])
view = QWebEngineView()
view.resize(width, 900)
view.show()
found = []

def answered(answer):
    found.append(answer)
    following()

def following():
    if len(found) == len(addresses):
        print(json.dumps(found))
        app.quit()
    else:
        view.load(QUrl(addresses[len(found)]))

# A page is given a moment, in which its scripts run.
asked = lambda: view.page().runJavaScript(script, answered)
view.loadFinished.connect(lambda fine: QTimer.singleShot(1000, asked))
following()
app.exec()
"""
PAGES = [
    "docs/index.html", "docs/start/ten_minutes.html", "docs/how_to/optimise.html",
    "docs/reference/conventions.html", "docs/coverage.html", "docs/speed.html",
    "docs/generated/reference/chainrules.html", "docs/generated/gallery/index.html",
    "notebooks/7_fitting_hare_and_lynx.html", "CHANGELOG.html",
]  # fmt: skip


def ask(width, script, addresses):
    """Open pages of the site at a width, and return what the script answers in each."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", BROWSER],
        input=json.dumps([width, script, *(f"{SITE.as_uri()}/{part}" for part in addresses)]),
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def test_pages_fit_into_400_pixels():
    widths = ask(400, "document.documentElement.scrollWidth", PAGES)
    assert {} == {page: width for page, width in zip(PAGES, widths, strict=True) if width > 400}


def test_pictures_are_shown():
    missing = "[...document.images].filter(x => !x.naturalWidth).map(x => x.src).join(' ')"
    assert ["" for _ in PAGES] == ask(1200, missing, PAGES)


def test_search_finds_hvp():
    results = "document.querySelector('#search-results').innerText"
    (text,) = ask(1000, results, ["search.html?q=hvp"])
    assert "chainrules.hvp" in text


def test_dark_mode_has_light_letters():
    script = """
    document.documentElement.dataset.theme = "dark";
    light = color => color.match(/[0-9]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b);
    style = getComputedStyle(document.body);
    light(style.color) - light(style.backgroundColor)
    """
    assert all(difference > 300 for difference in ask(1000, script, PAGES))
