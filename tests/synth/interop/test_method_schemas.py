"""Tool arguments are rebuilt from a method's source: its types, its defaults and its words."""

import ast

import pytest

from synth.interop.imports.method_schemas import ANYTHING, NoTool, Parameter, parameters, type_of


def method(signature: str, doc: str = "") -> ast.FunctionDef:
    [found] = ast.parse(f'def run({signature}):\n    """{doc}"""\n').body
    assert isinstance(found, ast.FunctionDef)
    return found


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("str", "str"),
        ("Optional[int]", "int | None"),
        ("Union[str, int, None]", "str | int | None"),
        ("None | float", "float | None"),
        ("'List[str]'", "list[str]"),
        ("typing.Dict[str, float]", "dict[str, float]"),
        ("List[Dict[str, Any]]", "list[dict]"),
        ("Literal['a', 'b']", "_Literal['a', 'b']"),
        ("ToolInfo", "dict"),
        ("Tuple[int, int]", "list"),
        ("datetime", "str"),
        ("Any", ANYTHING),
        ("Callable[[int], str]", ANYTHING),
        ("Optional[Any]", ANYTHING),
    ],
)
def test_an_annotation_becomes_a_type_that_has_a_schema(annotation: str, kind: str) -> None:
    assert type_of(ast.parse(annotation, mode="eval").body, frozenset({"ToolInfo"})) == kind


def test_a_parameter_without_annotation_takes_anything() -> None:
    [found] = parameters(method("self, x"), frozenset())
    assert found == Parameter("x", ANYTHING, "The x.", None)


def test_a_default_makes_an_argument_optional() -> None:
    a, b, c, d = parameters(method("self, a: int = 3, b: str = None, c: list = [], d: int = LIMIT"), frozenset())
    assert (a.default, a.kind) == ("3", "int")
    assert (b.default, b.kind, b.drop_none) == ("None", "str | None", False)
    assert c.default == "[]"
    assert (d.default, d.kind, d.drop_none) == ("None", "int | None", True)


def test_words_come_from_the_docstring_and_go_on_over_lines() -> None:
    doc = "Do it.\n\nArgs:\n    a (int): How many,\n        in all.\n    b: Who.\n\nReturns:\n    dict: x\n"
    found = parameters(method("self, a: int, b: str, c_id: str", doc), frozenset())
    assert [one.words for one in found] == ["How many, in all.", "Who.", "The c id."]


@pytest.mark.parametrize("signature", ["self, *args", "self, **kwargs", "self, a, /", "self, db"])
def test_what_has_no_name_or_a_name_that_is_taken_is_no_tool(signature: str) -> None:
    with pytest.raises(NoTool):
        parameters(method(signature), frozenset())
