"""The built site in headless Chromium, where there is one: it fits, is legible, and finds things.

A server of the standard library shows it, since a browser forbids a search among files.
"""

import functools
import http.server
import re
import threading

import pytest
from chromium import Browser, chromium
from test_site import PAGES, SITE, is_built

PROGRAM = chromium()
pytestmark = [
    pytest.mark.skipif(not is_built(), reason="`make docs` builds the site anew"),
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium: apt-get install chromium"),
    pytest.mark.slow,
]
NARROW, WIDE = 400, 1280
ALL = [path.relative_to(SITE).as_posix() for path in PAGES]
# Pages that are written by hand; and of the others, which are alike, some, and the longest name.
WRITTEN = [name for name in ALL if re.match(r"docs/(?!generated/)|[A-Z]", name)]
MADE = [name for name in ALL if name not in WRITTEN]
SHOWN = [*WRITTEN, *MADE[::20], *sorted(MADE, key=len)[-1:]]
DARK = [
    "docs/index.html", "docs/start/ten_minutes.html", "docs/coverage.html", "docs/speed.html",
    "docs/generated/reference/chainrules.grad.html", "docs/generated/errors/CR101.html",
    "docs/generated/gallery/index.html", "notebooks/7_fitting_hare_and_lynx.html",
]  # fmt: skip

# Parts that stand out of the window to the right, or are cut off there; not what scrolls by itself.
STICKING_OUT = """
(() => {
    const page = document.querySelector(".bd-article-container") ?? document.documentElement;
    const overflow = x => getComputedStyle(x).overflowX;
    const scrolls = x => x != page && page.contains(x) &&
        (/auto|scroll/.test(overflow(x)) || scrolls(x.parentElement));
    const width = x => getComputedStyle(x).textOverflow == "ellipsis" ? 0 : x.scrollWidth;
    const end = x => x.getBoundingClientRect().left + Math.max(x.offsetWidth, width(x));
    const wide = x => end(x) > innerWidth + 1 ||
        (overflow(x) == "hidden" && width(x) > x.clientWidth + 1 && x.clientWidth > 1);
    return [...page.querySelectorAll("*")]
        .filter(x => wide(x) && x.checkVisibility() && !scrolls(x))
        .slice(0, 3).map(x => `${x.tagName}.${x.className} ${x.textContent.slice(0, 40)}`)
        .concat(document.documentElement.scrollWidth > innerWidth ? ["the page"] : []);
})()
"""
BROKEN_PICTURES = """
[...document.images].filter(x => x.loading !== "lazy" && !x.naturalWidth).map(x => x.src)
"""
# The least ratio of contrast between text and the ground below it, and the text.
CONTRAST = """
(() => {
    const numbers = color => color.match(/[0-9.]+/g).map(Number);
    const light = color => {
        const [r, g, b] = numbers(color).map(v => {
            const s = v / 255;
            return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = x => {
        for (; x; x = x.parentElement) {
            const color = getComputedStyle(x).backgroundColor;
            if ((numbers(color)[3] ?? 1) > 0.9) return color;
        }
        return "rgb(255, 255, 255)";
    };
    let least = [99, ""];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text; (text = texts.nextNode());) {
        const x = text.parentElement;
        if (!text.data.trim() || !x.checkVisibility({visibilityProperty: true})) continue;
        const [a, b] = [light(getComputedStyle(x).color), light(ground(x))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < least[0]) least = [ratio, `${x.tagName}.${x.className}: ${text.data}`];
    }
    return least;
})()
"""
ENOUGH = 4.5  # of WCAG 2, level AA


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that writes no log."""

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    serve = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    with Browser(PROGRAM) as browser:
        yield browser


def test_pages_fit_a_narrow_screen_and_show_no_error(browser, address):
    browser.size(NARROW)
    browser.prefer("light")
    found = {}
    for name in SHOWN:
        browser.open(f"{address}/{name}")
        wrong = [*browser.evaluate(STICKING_OUT), *browser.evaluate(BROKEN_PICTURES)]
        if wrong or browser.complaints:
            found[name] = [*wrong, *browser.complaints]
    assert {} == found


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_text_stands_out_from_its_ground(browser, address, scheme):
    browser.size(WIDE)
    browser.prefer(scheme)
    faint = {}
    for name in DARK:
        browser.open(f"{address}/{name}")
        assert scheme == browser.evaluate("document.documentElement.dataset.theme")
        ratio, text = browser.evaluate(CONTRAST)
        if ratio < ENOUGH:
            faint[name] = round(ratio, 2), text
    assert {} == faint


def test_search_finds_hvp(browser, address):
    browser.size(WIDE)
    browser.open(f"{address}/search.html?q=hvp")
    found = """
    (async () => {
        const links = () => [...document.querySelectorAll("#search-results a")].map(x => x.href);
        for (let k = 0; k < 100 && !links().length; k++)
            await new Promise(done => setTimeout(done, 50));
        return links();
    })()
    """
    assert "/docs/generated/reference/chainrules.hvp.html" in browser.evaluate(found)[0]
    assert [] == browser.complaints
