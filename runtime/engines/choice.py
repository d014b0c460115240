"""Make the engine that the settings name; each is imported only when needed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from prompts.contracts import Prompt
from runtime.engines.engine import Engine, Rendered
from runtime.settings import InferenceSettings

if TYPE_CHECKING:
    from runtime.engines.mlx.records import RequestRecord


def make_engine(
    settings: InferenceSettings,
    *,
    warm: Sequence[Rendered] = (),
    render: Callable[[Prompt[Any]], Rendered] | None = None,
    on_record: "Callable[[RequestRecord], None]" = lambda record: None,
    on_broken: Callable[[str], None] = lambda why: None,
) -> Engine:
    """The engine, not started yet; what a device needs beside its settings is for `mlx` alone."""
    if settings.engine == "extractive":
        from runtime.engines.extractive.engine import ExtractiveEngine

        return ExtractiveEngine()
    if settings.engine == "scripted":
        from runtime.engines.scripted.engine import ScriptedEngine

        return ScriptedEngine()
    if settings.engine == "mlx":
        from runtime.engines.mlx.engine import MlxEngine
        from runtime.engines.mlx.settings import DeviceSettings

        device = DeviceSettings(max_rows=settings.max_rows, refuse_after_s=settings.refuse_after_s)
        return MlxEngine(
            settings.model, settings=device, warm=warm, render=render, on_record=on_record, on_broken=on_broken
        )
    from runtime.engines.openai.engine import OpenAIEngine

    return OpenAIEngine(settings.base_url, settings.model, api_key=settings.api_key)
