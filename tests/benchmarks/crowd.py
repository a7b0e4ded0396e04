"""Browser sessions at once: each its own Chromium context that moves the slider back to back."""

from __future__ import annotations

import asyncio

from playwright.async_api import Page, async_playwright

from tests.browser import chromium

PATIENCE = 180_000  # milliseconds
# The figure's lines as text, and the moment at which that text first differs after a key.
FIGURE_SEEN = """() => {
  const lines = () => [...document.querySelectorAll('.js-plotly-plot .scatterlayer path.js-line')]
    .map(path => path.getAttribute('d')).join();
  const look = () => { if (window.moved && !window.seen && lines() && lines() !== window.before)
    window.seen = performance.now() };
  new MutationObserver(look).observe(document.body,
    {subtree: true, childList: true, attributes: true, attributeFilter: ['d']});
  document.addEventListener('keydown', () => { window.moved = performance.now() }, true);
  window.arm = () => { window.before = lines(); window.moved = window.seen = 0 } }"""
AT_REST = """() => document.querySelector('.js-plotly-plot .main-svg')
  && document.querySelector('[data-testid="stApp"]').getAttribute('data-test-script-state') === 'notRunning'"""


def move(address: str, sessions: int, moves: int) -> list[float]:
    """Milliseconds from each key to the changed figure, as each browser's own clock sees it."""
    return asyncio.run(_all(address, sessions, moves))


async def _all(address: str, sessions: int, moves: int) -> list[float]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium.installed(playwright.chromium.executable_path), args=chromium.flags()
        )
        pages = []
        for _ in range(sessions):  # one after another: opening is not what is measured
            context = await browser.new_context(viewport={"width": 1440, "height": 900})
            pages.append(await context.new_page())
            await pages[-1].goto(address)
            await pages[-1].wait_for_function(AT_REST, timeout=PATIENCE)
        for page in pages:
            await page.evaluate(FIGURE_SEEN)
        await asyncio.sleep(2)
        start = asyncio.Barrier(sessions)
        every = await asyncio.gather(*(_session(page, i, moves, start) for i, page in enumerate(pages)))
        await browser.close()
    return [milliseconds for one in every for milliseconds in one]


async def _session(page: Page, number: int, moves: int, start: asyncio.Barrier) -> list[float]:
    times = []
    await start.wait()
    for i in range(moves):
        await page.get_by_role("slider", name="Privacy ε").first.focus()
        await page.evaluate("() => window.arm()")
        await page.keyboard.press("ArrowRight" if (i + number) % 6 < 3 else "ArrowLeft")
        await page.wait_for_function("() => window.seen", timeout=PATIENCE)
        times.append(await page.evaluate("() => window.seen - window.moved"))
        await page.wait_for_function(AT_REST, timeout=PATIENCE)
    return times
