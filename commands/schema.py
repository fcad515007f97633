"""`benchscribe schema`: the spec's JSON Schema."""

from __future__ import annotations

from .output import print_json


def run() -> int:
    """Print the JSON Schema of the spec format."""
    from ..schema.spec import Spec

    schema = Spec.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Benchscribe spec"
    print_json(schema)
    return 0
