"""Sidecar memory: a memory in a process of its own, in any language, over JSON lines (docs/sidecar.md)."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.errors import UserError
from memgauge.memories.base import Card, Fault, Footprint, GatewayAccess, Item, Recalled
from memgauge.products.process import LIMITS_S, Process, RefusedError, SidecarError

PROTOCOL = 1


class SidecarMemory:
    """Plays the memory's side by asking a sidecar; a product is a subclass that knows its command and options.

    Every write ends with ``manage``, in which the sidecar is also asked to settle: background work is awaited there
    and falls under that stage. A write whose content the sidecar reports as lost is an error of that write: it is
    told by ``faults`` and ``lost``, and the unit goes on, as the product does; where all was lost, the protocols fail
    the unit.
    """

    card: ClassVar[Card]

    def __init__(
        self,
        command: Sequence[str],
        gateway: GatewayAccess,
        directory: Path,
        *,
        options: Mapping[str, Any] | None = None,
        variables: Mapping[str, str] | None = None,
        limits_s: Mapping[str, float] | None = None,
    ) -> None:
        if unknown := set(limits_s or ()) - set(LIMITS_S):
            raise ValueError(f"no such time limit: {min(unknown)}; there are {', '.join(LIMITS_S)}")
        self._command = tuple(command)
        self._gateway = gateway
        self._directory = directory
        self._options = dict(options or {})
        self._variables = variables
        self._limits_s = limits_s
        self._process: Process | None = None
        self._written: dict[str, Turn] = {}
        self._writes = 0
        self._losses: list[Fault] = []
        self._told = 0  # of the losses, by ``faults``
        self._footprint = Footprint()
        self._state: dict[str, float] = {}

    async def start(self) -> None:
        """Starts the sidecar and lets it open its store. Raises SidecarError."""
        await self._running()

    async def write(self, turns: Sequence[Turn]) -> None:
        """Hands the turns over."""
        process = await self._running()
        reply = await process.ask("write", turns=[_told(turn) for turn in turns])
        self._writes += 1
        self._written.update((turn.id, turn) for turn in turns)
        self._note_losses(reply)

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """What the sidecar recalls, in its order; ranked by its scores where every item has one."""
        process = await self._running()
        asked = at.isoformat() if at else None
        reply = await process.ask("read", query=tokens.sanitize(query), time=asked)
        self._note_losses(reply)
        found = reply.get("items")
        try:
            items = [self._item(entry) for entry in found or ()]
            scores = [entry.get("score") for entry in found or ()]
        except (AttributeError, KeyError, TypeError) as fault:
            raise SidecarError(f"{self.card.name} answered 'read' with items that cannot be read: {fault!r}") from None
        if None in scores:
            return Recalled(tuple(items))
        order = sorted(range(len(items)), key=lambda place: -scores[place])
        return Recalled(tuple(items), ranked=tuple(items[place].turn_ids for place in order))

    async def manage(self) -> None:
        """Lets the sidecar tidy up, waits until it has settled, and asks how it stands."""
        process = await self._running()
        for op in ("manage", "settle"):
            self._note_losses(await process.ask(op))
        await self.look()

    async def look(self) -> None:
        """Asks how it stands; a product whose reads change what it holds does so after them."""
        process = await self._running()
        self._footprint = _footprint(await process.ask("footprint"))
        told = (await process.ask("state")).get("state") or {}
        self._state = {str(name): float(figure) for name, figure in told.items()}

    def footprint(self) -> Footprint:
        """The size of the store when it was last looked at."""
        return self._footprint

    def state(self) -> Mapping[str, float]:
        """What the sidecar told of itself when it was last looked at, and what it has lost of what it was given."""
        return {**self._state, "lost_writes": float(len(self._losing())), "lost_turns": float(len(self._lost_turns()))}

    def faults(self) -> Sequence[Fault]:
        """What went wrong since it was last asked, with or without turns lost."""
        told, self._told = self._told, len(self._losses)
        return self._losses[told:]

    def lost(self) -> str | None:
        """How much was lost, and why the last time."""
        losses = self._losing()
        if not losses:
            return None
        share = f"{len(self._lost_turns())} of {len(self._written)} turns"
        return f"{self.card.name} lost {share} in {len(losses)} writes; the last: {losses[-1].what}"

    def all_lost(self) -> str | None:
        """The same, where nothing is left."""
        return self.lost() if self._lost_turns() == self._written.keys() else None

    async def close(self) -> None:
        """Ends the sidecar, and everything that it started."""
        if self._process is not None:
            await self._process.stop()
            self._process = None

    async def _running(self) -> Process:
        if self._process is None:
            self._process = await Process.start(
                self.card.name, self._command, self._directory, variables=self._variables, limits_s=self._limits_s
            )
            try:
                await self._process.ask(
                    "open", protocol=PROTOCOL, directory=str(self._directory), options=self._options,
                    **asdict(self._gateway),
                )  # fmt: skip
            except RefusedError as refusal:
                raise SidecarError(str(refusal)) from None
        return self._process

    def _item(self, entry: Mapping[str, Any]) -> Item:
        text, ids = entry["text"], tuple(entry.get("turns") or ())
        if not isinstance(text, str):
            raise TypeError("a text must be a string")
        if unknown := [turn for turn in ids if turn not in self._written]:
            raise KeyError(f"turn {unknown[0]!r} was never written")
        return Item(text, self.sources(text, ids))

    def sources(self, text: str, turn_ids: tuple[str, ...]) -> tuple[str, ...]:
        """The turns that an item came from, where the sidecar named ``turn_ids``; a product may know better."""
        return turn_ids

    def _losing(self) -> list[Fault]:
        return [fault for fault in self._losses if fault.turn_ids]

    def _lost_turns(self) -> set[str]:
        return {turn for loss in self._losses for turn in loss.turn_ids}

    def _note_losses(self, reply: Mapping[str, Any]) -> None:
        for entry in reply.get("lost") or ():
            self._losses.append(Fault(str(entry["why"]), tuple(entry["turns"]), entry.get("reply")))


class AnySidecar(SidecarMemory):
    """Any program that speaks the protocol, named by a spec.

    ``{ name = "sidecar", label = "notes", options = { command = ["python3", "examples/notes_sidecar.py"] } }``.
    ``options`` are passed on to it, ``variables`` go into its environment, ``limits_s`` are seconds by operation.
    Files that the command names are looked for from where memgauge runs.
    """

    card: ClassVar[Card] = Card(
        name="sidecar",
        title="Sidecar",
        summary="any program that speaks the sidecar protocol (option command)",
    )

    def __init__(
        self,
        gateway: GatewayAccess,
        directory: Path,
        command: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
        variables: Mapping[str, str] | None = None,
        limits_s: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(
            _complete(command), gateway, directory, options=options, variables=variables, limits_s=limits_s
        )

    @classmethod
    def require(cls, options: Mapping[str, Any]) -> None:
        """Raises UserError where the command names no program."""
        _complete(options.get("command"))


def _complete(command: Any) -> list[str]:
    """The command as it can be run from elsewhere: program and files named in full."""
    if not isinstance(command, list | tuple) or not command or not all(isinstance(word, str) for word in command):
        example = '["python3", "my_sidecar.py"]'
        raise UserError(f"memory 'sidecar' needs the option command: a list such as {example}")
    program = shutil.which(command[0])
    if program is None:
        raise UserError(f"memory 'sidecar': there is no program {command[0]!r}")
    files = [str(Path(word).absolute()) if Path(word).is_file() else word for word in command[1:]]
    return [str(Path(program).absolute()), *files]


def _told(turn: Turn) -> dict[str, Any]:
    """A turn on the wire. ``line`` is how the harness itself would write it into a prompt."""
    return {
        "id": turn.id,
        "speaker": tokens.sanitize(turn.speaker),
        "text": tokens.sanitize(turn.text),
        "time": turn.time.isoformat() if turn.time else None,
        "session": turn.session,
        "line": tokens.sanitize(turn.line().removesuffix("\n")),
    }


def _footprint(told: Mapping[str, Any]) -> Footprint:
    """A sidecar gives its ``texts``, and more exactly its ``bytes`` on disk and its ``tokens``."""
    of_texts = Footprint.of_text(told.get("texts") or ())
    return Footprint(int(told.get("bytes", of_texts.bytes)), int(told.get("tokens", of_texts.tokens)))
