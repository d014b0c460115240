"""A real browser for tests: the machine's Chromium, installed from its packages where the tests are allowed to."""

import asyncio
import contextlib
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, async_playwright

from tests.one_at_a_time import APT, one_at_a_time

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_INSTALL_S = 240


async def find_chromium() -> str | None:
    """The path of a Chromium; None where there is none and it cannot be installed."""
    return await asyncio.to_thread(_found_or_installed)


def _found_or_installed() -> str | None:
    with one_at_a_time(APT):
        found = next((path for name in _NAMES if (path := shutil.which(name))), None)
        if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
            install = "apt-get update -q && apt-get install -y -q --no-install-recommends chromium"
            environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            with contextlib.suppress(subprocess.SubprocessError):
                subprocess.run(
                    ["sh", "-c", install], env=environ, stdout=subprocess.DEVNULL, timeout=_INSTALL_S, check=True
                )
                found = shutil.which("chromium")
        return found


@asynccontextmanager
async def browser(path: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=path, args=list(_QUIET))
        try:
            yield running
        finally:
            await running.close()


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    path = await find_chromium()
    if path is None:
        pytest.skip("there is no Chromium, and it cannot be installed")
    async with browser(path) as running:
        yield running
