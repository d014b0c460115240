"""The plug-in of docs/plugins.md installs into a folder, and its format is read from there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parent.parent / "docs" / "plugins.md"
UV = shutil.which("uv")


@pytest.mark.skipif(UV is None, reason="uv is not on PATH")
def test_documented_plugin_reads_its_format(tmp_path: Path) -> None:
    project, code = re.findall(r"```(?:toml|python)\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert project.count("\n") + code.count("\n") <= 50
    (tmp_path / "plugin").mkdir()
    (tmp_path / "plugin" / "pyproject.toml").write_text(project, encoding="utf-8")
    (tmp_path / "plugin" / "groundwire_subtitles.py").write_text(code, encoding="utf-8")
    run(str(UV), "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path / "site"), str(tmp_path / "plugin"))
    (tmp_path / "videos").mkdir()
    cue = "WEBVTT\n\n1\n00:01.000 --> 00:04.000\nThe <i>aurora</i> appears near the poles.\n"
    (tmp_path / "videos" / "sky.vtt").write_text(cue, encoding="utf-8")
    groundwire = (sys.executable, "-m", "runtime")
    run(*groundwire, "index", "build", "videos", "--index", "videos.index", cwd=tmp_path, site=tmp_path / "site")
    hits = run(*groundwire, "search", "--index", "videos.index", "aurora", cwd=tmp_path, site=tmp_path / "site")
    assert "The aurora appears near the poles." in hits
    assert "-->" not in hits


def run(*command: str, cwd: Path | None = None, site: Path | None = None) -> str:
    root = Path(__file__).parent.parent
    path = os.pathsep.join(map(str, filter(None, (site, root))))
    environ = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
