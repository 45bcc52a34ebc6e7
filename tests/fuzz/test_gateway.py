"""Whatever a product sends to the gateway: an answer, no fault of ours, and no row without a unit."""

import asyncio
import json
import struct
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgauge.backbones.extractive import Extractive
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.frames import Frames
from memgauge.ledger.verify import verify
from memgauge.meter.gateway import Gateway
from memgauge.meter.meter import Meter
from memgauge.spec import Setting
from support import new_ledger

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
PART = st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url", "file"]) | JSON}, optional={"text": JSON})
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"]) | st.text(max_size=5)},
    optional={"content": st.text() | st.lists(PART, max_size=3) | JSON, "tool_calls": JSON, "name": JSON},
)
CHAT = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGE | JSON, max_size=4) | JSON},
    optional=dict.fromkeys(
        ("model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n", "temperature", "tools",
         "tool_choice", "response_format", "provider", "reasoning", "seed", "stop"), JSON
    ),
)  # fmt: skip
EMBED = st.fixed_dictionaries(
    {"input": st.text() | st.lists(st.text() | JSON, max_size=3) | JSON},
    optional={"model": JSON, "encoding_format": st.sampled_from(["float", "base64"]) | JSON, "dimensions": JSON},
)
BODY = st.binary(max_size=200) | (CHAT | EMBED | JSON).map(lambda value: json.dumps(value).encode())
PATH = st.sampled_from(
    ["/v1/chat/completions", "/v1/embeddings", "/v1/models", "/v1//chat/completions", "/", "/v1/x%2f"]
)
KEY = st.sampled_from(["KEY", "KEY~write", "KEY~manage", "KEY~answer", "KEY~", "other", "", "Ã¼ber", "KEY KEY"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(["POST", "GET", "PUT"]), PATH, KEY, BODY), min_size=1, max_size=8))
async def test_any_request_is_answered(tmp_path_factory, asked: list[tuple[str, str, str, bytes]]) -> None:  # type: ignore[no-untyped-def]
    directory = tmp_path_factory.mktemp("fuzz")
    with new_ledger(directory / "ledger.sqlite") as ledger:
        meter = Meter(ledger, Setting(temperature=None), Extractive(), Hashing())
        unit = meter.open(1, attempt=ledger.start_unit(1, 0.0))
        gateway = Gateway(grace_s=0.1)
        await gateway.start()
        gateway.register(unit)
        answered = 0
        for method, path, key, body in asked:
            status, headers, reply = await _ask(gateway, method, path, key.replace("KEY", unit.key), body)
            assert status < 500, (method, path, body, reply)
            assert headers["content-type"].startswith(("application/json", "text/event-stream"))
            if status >= 400:
                assert json.loads(reply)["error"]["message"]
            answered += status == 200 and "models" not in path
        await gateway.close()
    calls = Frames(directory).calls()
    assert len(calls) >= answered
    assert set(calls["unit"]) <= {1}
    assert not [finding for finding in verify(directory) if finding.wrong]


@settings(max_examples=60, deadline=None)
@given(
    st.binary(min_size=1, max_size=400)
    | st.text(max_size=200).map(lambda text: f"GET {text} HTTP/1.1\r\n\r\n".encode())
)
async def test_what_is_no_http_ends_its_own_connection_alone(tmp_path_factory, noise: bytes) -> None:  # type: ignore[no-untyped-def]
    directory = tmp_path_factory.mktemp("fuzz")
    with new_ledger(directory / "ledger.sqlite") as ledger:
        unit = Meter(ledger, Setting(), Extractive(), Hashing()).open(1, attempt=ledger.start_unit(1, 0.0))
        gateway = Gateway(grace_s=0.1)
        await gateway.start()
        gateway.register(unit)
        _, writer = await asyncio.open_connection("127.0.0.1", _port(gateway))
        writer.write(noise)
        writer.write_eof()
        body = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
        status, _, _ = await _ask(gateway, "POST", "/v1/chat/completions", unit.key, body)
        writer.close()
        await gateway.close()
    assert status == 200
    assert Frames(directory).calls().height == 1


def _port(gateway: Gateway) -> int:
    return int(gateway.base_url.split(":")[2].split("/")[0])


async def _ask(gateway: Gateway, method: str, path: str, key: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
    """One raw request, so that no client mends what is sent."""
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", _port(gateway))
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
        writer.write(head.encode() + b"Authorization: Bearer " + key.encode() + b"\r\n\r\n" + body)
        answer = await reader.read()
        writer.close()
    head_, _, rest = answer.partition(b"\r\n\r\n")
    first, *lines = head_.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return int(first.split(" ")[1]), headers, rest


def test_vectors_of_any_dimension_are_packed_as_they_are_asked_for() -> None:
    from memgauge.backbones.base import Usage
    from memgauge.embedders.base import EmbedReply
    from memgauge.meter.gateway import _embeddings

    @given(
        st.lists(
            st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3), min_size=1
        )
    )
    def packed(rows: list[list[float]]) -> None:
        import base64

        import numpy as np

        reply: Any = EmbedReply(np.array(rows, np.float32), Usage(embedding=1), "m")
        told = _embeddings(reply, None, "base64")["data"]
        assert [list(struct.unpack("<3f", base64.b64decode(entry["embedding"]))) for entry in told] == rows

    packed()
