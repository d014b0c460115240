"""What axe finds on a page that a browser shows: what some people could not use."""

import functools

from playwright.async_api import Page

from tests.clients.installed import node_in


@functools.cache
def _script() -> str:
    _, folder = node_in("axe")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


async def findings(page: Page) -> list[str]:
    """Rule and element of each."""
    await page.evaluate(f"() => {{ {_script()} }}")
    found = await page.evaluate("async () => (await axe.run(document)).violations")
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]
