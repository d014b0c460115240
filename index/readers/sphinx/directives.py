"""Directives and roles that docutils itself does not have: Sphinx's, and any other that a document uses.

What they hold is kept; what only a build of the whole documentation can fill in is left out.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.statemachine import StringList

_DIRECTIVE = re.compile(r"^[ \t]*(?:\.\. (?:\|[^|\n]+\| )?|\* - )([\w:+.-]+)::(?:[ \t]|$)", re.MULTILINE)
_ROLE = re.compile(r":([a-zA-Z][\w:+.-]*):`|`:([a-zA-Z][\w:+.-]*):(?=\W|$)")
_TARGET = re.compile(r"^(.*?)\s*<([^<>]*)>$", re.DOTALL)

#: Their content is program text, or a picture's.
_CODE = frozenset(
    ("code-block", "sourcecode", "prompt", "testcode", "testoutput", "doctest", "graphviz", "digraph", "graph", "mermaid",
     "uml", "ipython")
)  # fmt: skip
#: Nothing of them can be seen, or all of it comes from other files.
_SILENT = frozenset(
    ("toctree", "index", "highlight", "currentmodule", "module", "py:module", "py:currentmodule", "program", "testsetup",
     "testcleanup", "tabularcolumns", "sectionauthor", "codeauthor", "literalinclude", "bibliography", "autosummary",
     "automodule", "seo", "default-domain", "redirect", "raw", "include")
)  # fmt: skip
_CHANGES = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_LABELS = {"seealso": "See also", "todo": "Todo"}
#: Their text is a name in a program, which Sphinx shows in the type of code.
_NAMES = frozenset(
    ("class", "func", "meth", "mod", "attr", "data", "exc", "obj", "const", "type", "any", "file", "option", "envvar",
     "command", "program", "samp", "confval", "kbd", "makevar", "mimetype", "regexp", "token", "keyword", "macro",
     "member", "var", "struct", "enum", "pypi", "setting", "opt", "module", "function", "method")
)  # fmt: skip
_CALLED = frozenset(("func", "meth", "function", "method"))
_LABELLED = frozenset(("ref", "numref", "doc", "any", "std:ref", "std:doc"))


class _Options(dict[str, Callable[[str], str]]):
    """Any option, with any value or none."""

    def __missing__(self, name: str) -> Callable[[str], str]:
        return str


class _Any(Directive):
    """A directive of a name that docutils does not know."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[_Options] = _Options(name=str)

    def run(self) -> Sequence[nodes.Node]:
        name, argument = self.name.lower(), " ".join(" ".join(self.arguments).split())
        short = name.rpartition(":")[2]
        if name in _SILENT or short in _SILENT:
            return []
        if short in _CODE or short == "math":
            return [self._code(short, argument)]
        if short in _CHANGES or short in _LABELS:
            version, _, first = argument.partition(" ") if short in _CHANGES else ("", "", argument)
            label = _LABELS[short] if short in _LABELS else f"{_CHANGES[short]} {version}"
            return self._labelled(label, first)
        result = self._parsed(self.content)
        if argument and short != "only":
            if ":" in name or self._describes():
                terms = [nodes.term(line, line) for line in map(str.strip, self.arguments[0].splitlines()) if line]
                item = nodes.definition_list_item("", *terms, nodes.definition("", *result))
                return [nodes.definition_list("", item)]
            if result or " " in argument:
                titled, _ = self.state.inline_text(argument, self.lineno)
                return [nodes.paragraph(argument, "", *titled), *result]
        return result

    def _code(self, name: str, argument: str) -> nodes.Node:
        text = "\n".join(self.content)
        if name == "math":
            text = f"{argument}\n{text}".strip()
            return nodes.math_block(text, text)
        return nodes.literal_block(text, text, language=argument if " " not in argument else "")

    def _describes(self) -> bool:
        """Whether the argument is the name of the described object."""
        short = self.name.lower().rpartition(":")[2]
        return short.startswith("auto") or short in _NAMES or short in ("describe", "envvar", "cmdoption", "attribute")

    def _labelled(self, label: str, first: str) -> list[nodes.Node]:
        result = self._parsed(StringList([first, "", *self.content], source="") if first else self.content)
        if result and isinstance(result[0], nodes.paragraph):
            result[0].insert(0, nodes.Text(f"{label}: "))
            return result
        return [nodes.paragraph(label, label), *result]

    def _parsed(self, content: StringList) -> list[Any]:
        holder = nodes.Element()
        self.state.nested_parse(content, self.content_offset, holder, match_titles=True)
        return list(holder.children)


def _role(
    name: str, rawtext: str, text: str, lineno: int, inliner: object,
    options: Mapping[str, object] | None = None, content: Sequence[str] | None = None,
) -> tuple[list[nodes.Node], list[nodes.Node]]:  # fmt: skip
    """A reference by its text, a name in a program as code."""
    short = name.lower().rpartition(":")[2]
    text = nodes.unescape(text)
    titled = _TARGET.match(text)
    visible, target = (titled[1], titled[2]) if titled and titled[1] else (text.strip("<>") if titled else text, text)
    if not titled:
        visible = visible.lstrip("!")
        if visible.startswith("~"):
            visible = visible[1:].rpartition(".")[2]
    if short in _NAMES:
        visible = visible.lstrip(".")
        visible += "()" * (short in _CALLED and not titled and not visible.endswith(")"))
        return [nodes.literal(rawtext, visible)], []
    if short == "doc" and not titled:
        visible = visible.strip("/").removesuffix("/index")
    node = nodes.inline(rawtext, visible)
    if short in _LABELLED and not titled:
        node["label"] = nodes.fully_normalize_name(target)
    return [node], []


def admit(text: str) -> None:
    """Make docutils know every directive and role that the text uses; forget the roles of the text before."""
    roles._roles.clear()
    for name in {result.lower() for result in _DIRECTIVE.findall(text)}:
        if name in _SILENT or name in _CODE or name not in directives._directive_registry:
            directives.register_directive(name, _Any)
    for result in _ROLE.findall(text):
        name = (result[0] or result[1]).lower()
        if name not in roles._role_registry:
            roles.register_local_role(name, _role)
