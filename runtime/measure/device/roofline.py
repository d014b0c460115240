"""How close decoding comes to the memory-bandwidth bound: each step reads the weights and every row's cache once.

Decode ≤ rows · bandwidth / (weight bytes + Σ length · cache bytes per token). Bandwidths are the manufacturers' figures, in GB/s.
"""

import re

from runtime.measure.device.driving import ask_all, rendered, running
from runtime.measure.device.figures import Figure
from runtime.measure.device.scale import Scale

BANDWIDTH_GB_S = {
    "M1": 68, "M1 Pro": 200, "M1 Max": 400, "M1 Ultra": 800,
    "M2": 100, "M2 Pro": 200, "M2 Max": 400, "M2 Ultra": 800,
    "M3": 100, "M3 Pro": 150, "M3 Max": 400, "M3 Ultra": 819,
    "M4": 120, "M4 Pro": 273, "M4 Max": 546,
    "M5": 153,
    "A100": 1935, "H100": 3350, "H200": 4800, "B200": 8000,
}  # fmt: skip


def bandwidth_gb_s(device: str) -> float | None:
    """Memory bandwidth of the chip that `device` names; None if unknown."""
    for name in sorted(BANDWIDTH_GB_S, key=len, reverse=True):
        if re.search(rf"\b{name}\b", device):
            return BANDWIDTH_GB_S[name]
    return None


async def roofline(model: str, scale: Scale) -> list[Figure]:
    """Decode speed of one row and of eight, with the share of the bound where the chip is known."""
    figures = []
    async with running(model) as engine:
        device, loaded = engine.device_name, engine.view()
        bandwidth = bandwidth_gb_s(device)
        for rows in (1, 8):
            prompts = [rendered(f"{n} of {rows}.", max_tokens=scale.reply_tokens * 2) for n in range(rows)]
            replies = [r.finished for r in await ask_all(engine, prompts, rows) if r.finished]
            speed = sum(r.tokens_out / r.decode_s for r in replies if r.decode_s)
            length = sum(r.tokens_in + r.tokens_out / 2 for r in replies)
            note = f"{device}: bandwidth unknown, no roofline"
            if bandwidth is not None:
                bound = rows * bandwidth * 1e9 / (loaded.weight_bytes + length * engine.kv_token_bytes)
                note = f"{device}: {100 * speed / bound:.0f} % of the bound of {bound:.0f} tokens/s"
            figures.append(Figure(f"decode, {rows} in flight", speed, "tokens/s", note=note))
    return figures
