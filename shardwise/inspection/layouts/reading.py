"""Another system's configuration, whichever it is, as the draft of a catalog."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from shardwise.errors import CatalogError, NotSupportedError
from shardwise.inspection.layouts import mycat, shardingsphere, vitess
from shardwise.inspection.layouts.draft import Draft


def translate(files: Sequence[Path], *, shards: Sequence[str] = ()) -> Draft:
    """The draft of a catalog: of `shardingsphere.yaml`, `vschema.json`, or `schema.xml` and `rule.xml`.

    `shards` are Vitess's, whose file does not name them.
    """
    _missing(files)
    kinds = {file.suffix.lower() for file in files}
    if kinds <= {".yaml", ".yml"} and len(files) == 1:
        return shardingsphere.translate(_yaml(files[0]))
    if kinds == {".json"} and len(files) == 1:
        return vitess.translate(_json(files[0]), files[0].stem, shards or vitess.TWO_SHARDS)
    if kinds == {".xml"}:
        return mycat.translate(files)
    raise NotSupportedError(
        "these are no files of a system that is known here",
        hint="Give ShardingSphere's YAML, Vitess's vschema.json, or Mycat's schema.xml and rule.xml",
    )


def _missing(files: Sequence[Path]) -> None:
    for file in files:
        if not file.is_file():
            raise CatalogError(f"there is no file {file}")


def _json(file: Path) -> Any:
    return _read(file, lambda: json.loads(file.read_text(encoding="utf-8")))


def _yaml(file: Path) -> Any:
    try:
        import yaml  # noqa: PLC0415  an extra
    except ImportError:
        raise NotSupportedError(
            "reading YAML needs PyYAML", hint="Install it: pip install 'shardwise[layouts]'"
        ) from None

    class Loader(yaml.SafeLoader):
        """Tags are kept as `_tag`: ShardingSphere's say which rule a block is."""

    def tagged(loader: yaml.SafeLoader, tag: str, node: yaml.Node) -> Any:
        if not isinstance(node, yaml.MappingNode):
            raise CatalogError(f"{file}:{node.start_mark.line + 1}: !{tag} is no block of settings")
        return {**loader.construct_mapping(node, deep=True), "_tag": f"!{tag}"}

    Loader.add_multi_constructor("!", tagged)
    try:
        return _read(file, lambda: yaml.load(file.read_text(encoding="utf-8"), Loader))  # noqa: S506
    except yaml.YAMLError as error:
        raise CatalogError(f"{file} cannot be read: {error}") from error


def _read(file: Path, read: Callable[[], Any]) -> Any:
    try:
        found = read()
    except (OSError, ValueError) as error:
        raise CatalogError(f"{file} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise CatalogError(f"{file} holds no configuration")
    return found
