"""``--config``: defaults of options from a TOML file, checked as if they had been typed."""

import difflib
import inspect
import tomllib
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

from beltrami.core.errors import InvalidInputError

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def configure(context: typer.Context, path: Path | None) -> Path | None:
    """Take defaults of options from a TOML file; what is typed on the command line wins.

    Keys are names of options. Those above all tables hold for every command that has them, those
    in a table named like a command for it alone.
    """
    if path is None:
        return None
    content = _read_toml(path)
    commands = _commands(context)
    of_command = _tables(content, commands, path).get(context.info_name or "", {})
    shared = {name: value for name, value in content.items() if not isinstance(value, dict)}
    known = {name: set(_options(command)) for name, command in commands.items()}
    _require_known(shared, set().union(*known.values()), path, "which no command has")
    here = _options(context.command)
    _require_known(
        of_command, set(here), path, f"which `beltrami {context.info_name}` does not have"
    )
    kinds = get_type_hints(inspect.unwrap(context.command.callback or configure))
    chosen = {}
    for spelling, value in (shared | of_command).items():
        parameter = here.get(_key(spelling))
        if parameter is not None:
            name = str(parameter.name)
            typed = _as_typed(_kind(kinds[name]), spelling, value, path)
            chosen[name] = typed.split(",") if parameter.multiple else typed
    context.default_map = chosen | dict(context.default_map or {})
    return path


def _read_toml(path: Path) -> dict[str, Any]:
    if path.exists() and not path.is_file():
        raise InvalidInputError(f"the config file {str(path)!r} is no regular file.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(
            f"the config file {str(path)!r} cannot be read ({error.strerror or error})."
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInputError(f"the config file {str(path)!r} is no TOML: {error}.") from error


def _commands(context: typer.Context) -> dict[str, Any]:
    parent = context.parent
    named = {} if parent is None else getattr(parent.command, "commands", {})
    return dict(named) or {context.info_name or "": context.command}


def _tables(content: dict[str, Any], commands: dict[str, Any], path: Path) -> dict[str, Any]:
    tables = {name: value for name, value in content.items() if isinstance(value, dict)}
    _require_known(tables, set(commands), path, "which is no command", is_table=True)
    return tables


def _key(spelling: str) -> str:
    return spelling.replace("-", "_")


def _options(command: Any) -> dict[str, Any]:
    """Return the options of a command under all their spellings."""
    return {
        _key(option.lstrip("-")): parameter
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("-") and parameter.name not in ("config", "help")
    }


def _require_known(
    names: dict[str, Any], known: set[str], path: Path, why: str, *, is_table: bool = False
) -> None:
    for name in names:
        if _key(name) not in {_key(one) for one in known}:
            near = difflib.get_close_matches(_key(name), sorted(known), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            what = f"has the table [{name}]" if is_table else f"sets {name!r}"
            raise InvalidInputError(f"the config file {str(path)!r} {what}, {why}.{hint}")


def _kind(hint: Any) -> type:
    """Return which of four types an option takes; a path is a text."""
    kinds = {hint, *get_args(hint)}
    return next((kind for kind in (bool, int, float) if kind in kinds), str)


def _as_typed(kind: type, spelling: str, value: Any, path: Path) -> Any:
    """Return a value as it would have been typed, or raise if it is of another type."""
    if kind is str and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ",".join(value)
    allowed = (int, float) if kind is float else (kind,)
    if type(value) not in allowed:
        raise InvalidInputError(
            f"the config file {str(path)!r} sets {spelling!r} to {value!r}, which must be "
            f"{_WORDS[kind]}."
        )
    return value
