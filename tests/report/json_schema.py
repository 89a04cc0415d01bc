"""A validator for the part of JSON Schema (draft 2020-12) that the report's schema uses; any other keyword raises."""

from __future__ import annotations

from typing import Any

_KNOWN = {
    "$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "anyOf", "properties", "required",
    "additionalProperties", "items", "prefixItems", "minItems", "minimum",
}  # fmt: skip
_TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def problems(value: Any, schema: Any, root: Any = None, path: str = "$") -> list[str]:
    """Everything in ``value`` that does not fit, as "path: problem"."""
    root = schema if root is None else root
    if isinstance(schema, bool):
        return [] if schema else [f"{path}: nothing may be here"]
    if unknown := set(schema) - _KNOWN:
        raise ValueError(f"{path}: the validator does not know {sorted(unknown)}")
    if "$ref" in schema:
        return problems(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, path)
    if "anyOf" in schema:
        tried = [problems(value, option, root, path) for option in schema["anyOf"]]
        return [] if any(not found for found in tried) else min(tried, key=len)
    if "const" in schema and value != schema["const"]:
        return [f"{path}: must be {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: must be one of {schema['enum']!r}"]
    if "type" in schema and not _is(value, schema["type"]):
        return [f"{path}: must be {schema['type']}, is {value!r}"]
    if "minimum" in schema and value < schema["minimum"]:
        return [f"{path}: must be at least {schema['minimum']}, is {value!r}"]
    return _of_object(value, schema, root, path) + _of_array(value, schema, root, path)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _of_object(value: Any, schema: Any, root: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return []
    found = [f"{path}.{key}: missing" for key in schema.get("required", ()) if key not in value]
    properties = schema.get("properties", {})
    for key, item in value.items():
        rule = properties.get(key, schema.get("additionalProperties", True))
        found += problems(item, rule, root, f"{path}.{key}")
    return found


def _of_array(value: Any, schema: Any, root: Any, path: str) -> list[str]:
    if not isinstance(value, list):
        return []
    found = [f"{path}: too short"] if len(value) < schema.get("minItems", 0) else []
    rules = schema.get("prefixItems", [])
    for index, item in enumerate(value):
        rule = rules[index] if index < len(rules) else schema.get("items", True)
        found += problems(item, rule, root, f"{path}[{index}]")
    return found
