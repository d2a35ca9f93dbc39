"""The text of a query's tree: complete SPARQL without prefixes, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence

from remix.store.tree import Node, NotUnderstood, Value, parse

_OPERATORS = {"ConditionalOrExpression": "||", "ConditionalAndExpression": "&&"}
_ARGUMENTS = ["text", "arg", "arg1", "pattern", "arg2", "start", "length", "arg3", "replacement", "flags"]
# Their value differs between two evaluations, so an evaluation elsewhere would not give the same result.
_UNSTEADY = {"RAND", "UUID", "STRUUID", "BNODE", "NOW"}
_AGGREGATES = {"Count", "Sum", "Min", "Max", "Avg"}


def text_of(query: Node, *, check: bool = True) -> str:
    """Return SPARQL that parses to exactly this tree; without `check` for parts of a tree that was checked.

    Raises `NotUnderstood` for a tree that holds something without a known spelling, or whose text does not parse
    back to it: whatever this module has wrong shows here, before the text is used.

    >>> print(text_of(parse("SELECT DISTINCT ?s { ?s a/^rdf:type* ?o FILTER (?o IN (1, 2) && !BOUND(?x)) } LIMIT 2")))
    SELECT DISTINCT ?s
    WHERE {
      ?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>/^<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>* ?o .
      FILTER (((?o IN (1, 2)) && !(BOUND(?x))))
    }
    LIMIT 2
    """
    text = _query(query)
    if check and parse(text) != query:
        raise NotUnderstood("its text does not parse back")
    return text


def _query(node: Node) -> str:
    if node.kind == "ConstructQuery":
        if "template" not in dict(node.parts):
            raise NotUnderstood("CONSTRUCT WHERE")
        head = f"CONSTRUCT {_block(_triples(node.get('template')))}"
    elif node.kind in ("SelectQuery", "SubSelect"):
        modifier = f"{node.get('modifier')} " if node.get("modifier") else ""
        head = f"SELECT {modifier}{' '.join(map(_project, node.get('projection', ()))) or '*'}"
    elif node.kind == "AskQuery":
        head = "ASK"
    else:
        raise NotUnderstood(node.kind)
    return f"{head}{dataset_clause(node)}\nWHERE {_group(node.get('where'))}{_modifiers(node)}"


def _modifiers(node: Node) -> str:
    text = ""
    if grouping := node.get("groupby"):
        text += f"\nGROUP BY {' '.join(_condition(one) for one in grouping.get('condition'))}"
    if having := node.get("having"):
        text += f"\nHAVING {' '.join(f'({_expression(one)})' for one in having.get('condition'))}"
    if order := node.get("orderby"):
        text += f"\nORDER BY {' '.join(_order(one) for one in order.get('condition'))}"
    if slice_ := node.get("limitoffset"):
        for key in ("limit", "offset"):
            if (number := slice_.get(key)) is not None:
                text += f"\n{key.upper()} {number}"
    if values := node.get("valuesClause"):
        text += f"\n{_values(values)}"
    return text


def _project(node: Node) -> str:
    if node.get("var"):
        return str(node.get("var"))
    return f"({_expression(node.get('expr'))} AS {node.get('evar')})"


def _condition(one: Value) -> str:
    if isinstance(one, Node) and one.kind == "GroupAs":
        return f"({_expression(one.get('expr'))} AS {one.get('var')})"
    return _expression(one) if isinstance(one, str) else f"({_expression(one)})"


def _order(one: Node) -> str:
    inner = one.get("expr")
    if one.get("order"):
        return f"{one.get('order')}({_expression(inner)})"
    return inner if isinstance(inner, str) and inner.startswith("?") else f"({_expression(inner)})"


def _block(inner: str) -> str:
    # Line feeds alone end a line: U+2028 and the like stand as they are in a literal.
    lines = "".join(f"  {line}\n" for line in inner.split("\n")) if inner else ""
    return f"{{\n{lines}}}"


def _group(node: Node) -> str:
    if node.kind == "SubSelect":
        return _block(_query(node))
    if node.kind != "GroupGraphPatternSub":
        raise NotUnderstood(node.kind)
    return _block("\n".join(map(_part, node.get("part", ()))))


def _part(node: Node) -> str:
    kind, graph = node.kind, node.get("graph")
    if kind == "TriplesBlock":
        return _triples(node.get("triples"))
    if kind == "Filter":
        return f"FILTER ({_expression(node.get('expr'))})"
    if kind == "Bind":
        return f"BIND ({_expression(node.get('expr'))} AS {node.get('var')})"
    if kind == "InlineData":
        return _values(node)
    if kind == "GroupOrUnionGraphPattern":
        return " UNION ".join(_group(one) for one in graph)
    if kind in ("OptionalGraphPattern", "MinusGraphPattern"):
        return f"{kind[:-12].upper()} {_group(graph)}"
    if kind in ("GraphGraphPattern", "ServiceGraphPattern"):
        silent = "SILENT " if node.get("silent") else ""
        return f"{kind[:-12].upper()} {silent}{node.get('term')} {_group(graph)}"
    raise NotUnderstood(kind)


def _values(node: Node) -> str:
    names, rows = node.get("var", ()), node.get("value", ())
    if rows and isinstance(rows[0], tuple):
        cells = " ".join(f"({' '.join(row)})" for row in rows)
        return f"VALUES ({' '.join(names)}) {{ {cells} }}"
    if len(names) != 1:
        raise NotUnderstood("VALUES without rows")
    return f"VALUES {names[0]} {{ {' '.join(rows)} }}"


def _triples(triples: Sequence[tuple[Value, Value, Value]]) -> str:
    return "\n".join(f"{subject} {_path(predicate)} {value} ." for subject, predicate, value in triples)


def _path(path: Value) -> str:
    if isinstance(path, str):
        return path
    part = path.get("part")
    if path.kind == "PathAlternative":
        return "|".join(_step(one) for one in part)
    if path.kind == "PathSequence":
        return "/".join(_step(one) for one in part)
    if path.kind == "PathEltOrInverse":
        return f"^{_step(part)}"
    if path.kind == "PathElt":
        return f"{_step(part)}{path.get('mod')}"
    if path.kind == "PathNegatedPropertySet":
        return f"!({'|'.join(_path(one) for one in part or ())})"
    raise NotUnderstood(path.kind)


def _step(path: Value) -> str:
    """Return a path inside another: in brackets unless it is one step."""
    simple = isinstance(path, str) or path.kind in ("PathElt", "PathEltOrInverse", "PathNegatedPropertySet")
    return _path(path) if simple else f"({_path(path)})"


def _expression(node: Value) -> str:
    if isinstance(node, str):
        return node
    if not isinstance(node, Node):
        raise NotUnderstood("expression")
    kind = node.kind
    if kind in _OPERATORS:
        every = [node.get("expr"), *node.get("other")]
        return f"({f' {_OPERATORS[kind]} '.join(_expression(one) for one in every)})"
    if kind == "RelationalExpression":
        other = (_list if node.get("op") in ("IN", "NOT IN") else _expression)(node.get("other"))
        return f"({_expression(node.get('expr'))} {node.get('op')} {other})"
    if kind in ("AdditiveExpression", "MultiplicativeExpression"):
        rest = zip(node.get("op"), node.get("other"), strict=True)
        tail = "".join(f" {operator} {_expression(one)}" for operator, one in rest)
        return f"({_expression(node.get('expr'))}{tail})"
    if kind in ("UnaryNot", "UnaryPlus", "UnaryMinus"):
        sign = {"UnaryNot": "!", "UnaryPlus": "+", "UnaryMinus": "-"}[kind]
        return f"{sign}({_expression(node.get('expr'))})"
    return _call(node)


def _list(values: Value) -> str:
    if isinstance(values, str):  # `()` is read as rdf:nil
        return "()"
    return f"({', '.join(_expression(one) for one in values)})"


def _call(node: Node) -> str:
    kind, _, name = node.kind.partition("_")
    distinct = "DISTINCT " if node.get("distinct") else ""
    if node.kind in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
        return f"{'NOT ' if 'NOT' in name else ''}EXISTS {_group(node.get('graph'))}"
    if kind == "Builtin" and name not in _UNSTEADY:
        given = [value for key in _ARGUMENTS if (value := node.get(key)) is not None]
        if len(given) == 1 and isinstance(given[0], tuple):
            return f"{name}{_list(given[0])}"
        return f"{name}({', '.join(_expression(one) for one in given)})"
    if kind == "Aggregate" and name in _AGGREGATES:
        return f"{name.upper()}({distinct}{_expression(node.get('vars'))})"
    if node.kind == "Function":
        inner = ", ".join(_expression(one) for one in node.get("expr") or ())
        return f"{node.get('iri')}({distinct}{inner})"
    raise NotUnderstood(node.kind)


def element_text(part: Node) -> str:
    """Return one element of a group as text, for people to read.

    >>> element_text(parse("ASK { FILTER (?a > 1) }").get("where").get("part")[0])
    'FILTER ((?a > 1))'
    """
    return _part(part)


def dataset_clause(tree: Node) -> str:
    """Return the FROM lines of a query, which whatever is asked in its place has to read from as well.

    >>> dataset_clause(parse("ASK FROM <urn:g> {}"))
    '\\nFROM <urn:g>'
    """
    clauses = tree.get("datasetClause") or ()
    return "".join(
        f"\nFROM {one.get('default')}" if one.get("default") else f"\nFROM NAMED {one.get('named')}" for one in clauses
    )
