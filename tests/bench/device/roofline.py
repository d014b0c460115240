"""How close decoding comes to the memory-bandwidth bound: each step reads the weights and every row's cache once.

Decode ≤ rows · bandwidth / (weight bytes + Σ length · cache bytes per token). Bandwidths are the manufacturers' figures for
the chip's largest variant, in GB/s.
"""

from tests.bench.device.driving import ask_all, rendered, running
from tests.bench.device.figures import Figure, Scale

#: By the name that mlx gives. A name that is not here may be another variant, or a part of a card: its bandwidth is unknown.
BANDWIDTH_GB_S = {
    "Apple M1": 68, "Apple M1 Pro": 200, "Apple M1 Max": 400, "Apple M1 Ultra": 800,
    "Apple M2": 100, "Apple M2 Pro": 200, "Apple M2 Max": 400, "Apple M2 Ultra": 800,
    "Apple M3": 100, "Apple M3 Pro": 150, "Apple M3 Max": 400, "Apple M3 Ultra": 819,
    "Apple M4": 120, "Apple M4 Pro": 273, "Apple M4 Max": 546,
    "Apple M5": 153, "Apple M5 Pro": 307, "Apple M5 Max": 614,
    "NVIDIA A100-SXM4-40GB": 1555, "NVIDIA A100-PCIE-40GB": 1555,
    "NVIDIA A100-SXM4-80GB": 2039, "NVIDIA A100 80GB PCIe": 1935,
    "NVIDIA H100 80GB HBM3": 3350, "NVIDIA H100 PCIe": 2039, "NVIDIA H100 NVL": 3938,
    "NVIDIA H200": 4800, "NVIDIA B200": 8000,
}  # fmt: skip


async def roofline(model: str, scale: Scale) -> list[Figure]:
    """Decode speed of one row, of eight and of as many as run at once, with the share of the bound where the chip is known."""
    figures = []
    async with running(model) as engine:
        assert engine.device is not None
        loaded = engine.device.tools.loaded
        device = loaded.device_name
        bandwidth = BANDWIDTH_GB_S.get(device)
        for rows in (1, 8, 32):
            prompts = [rendered(f"{n} of {rows}.", max_tokens=scale.reply_tokens * 2) for n in range(rows)]
            replies = [r.finished for r in await ask_all(engine, prompts, rows) if r.finished]
            speed = sum(r.tokens_out / r.decode_s for r in replies if r.decode_s)
            length = sum(r.tokens_in + r.tokens_out / 2 for r in replies)
            note = f"{device}: bandwidth unknown, no roofline"
            if bandwidth is not None:
                bound = rows * bandwidth * 1e9 / (loaded.weight_bytes + length * loaded.kv_token_bytes)
                note = f"{device}: {100 * speed / bound:.0f} % of the bound of {bound:.0f} tokens/s"
            figures.append(Figure(f"decode, {rows} in flight", speed, "tokens/s", note))
    return figures
