"""The page in a browser as large as a phone, and fingers that reach what is on its screen alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, sync_playwright

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
SCREEN: ViewportSize = {"width": 390, "height": 844}
WITHIN = 30_000.0  # milliseconds


class Phone:
    """A page that is looked at and tapped."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, address: str) -> None:
        """Opens an address."""
        self.page.goto(address)
        self.fits()

    def fits(self) -> None:
        """Fails where the page has to be moved sideways."""
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= SCREEN["width"], f"{self.page.url} is {wide} pixels wide"

    def sees(self, target: Locator) -> bool:
        """Whether the whole element is on the screen."""
        box = target.bounding_box()
        return (
            box is not None
            and 0 <= box["x"] <= box["x"] + box["width"] <= SCREEN["width"]
            and 0 <= box["y"] <= box["y"] + box["height"] <= SCREEN["height"]
        )

    def tap(self, target: Locator) -> None:
        """Scrolls to an element and taps it. Fails where the screen doesn't hold all of it, or something covers it."""
        target.scroll_into_view_if_needed()
        assert self.sees(target), f"{target} is at {target.bounding_box()}"
        target.tap()

    def questions(self) -> list[str]:
        """The addresses of the questions that the inbox lists, as soon as it lists one."""
        links: Locator = self.page.locator("#list a[href^='/review/']")
        links.first.wait_for()
        addresses: list[str] = links.evaluate_all("links => links.map(link => link.getAttribute('href'))")
        return addresses


@contextmanager
def phone() -> Iterator[Phone]:
    """A phone whose session ends with the block. Where there is no Chromium the test is skipped, unless PROVE_ALL is set."""
    if not CHROMIUM.is_file():
        missing = f"there is no browser {CHROMIUM}: ./check --install installs it, CHROMIUM names another"
        assert "PROVE_ALL" not in os.environ, missing
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            # Without smooth scrolling a target is where it stays.
            context = browser.new_context(viewport=SCREEN, is_mobile=True, has_touch=True, reduced_motion="reduce")
            context.set_default_timeout(WITHIN)
            yield Phone(context.new_page())
        finally:
            browser.close()
