"""HTTP as servers, proxies and accidents speak it, byte for byte."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memgauge.backbones.base import ChatRequest, UpstreamError
from memgauge.backbones.endpoint import Endpoint

ASK = ChatRequest.of("s", "u")
BODY = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY

Speak = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def speaking(speak: Speak, **options: Any) -> AsyncIterator[int]:
    """A server whose every connection is handled by ``speak``; yields its port."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await speak(reader, writer)
        except (ConnectionError, EOFError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, **options)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def request_of(reader: asyncio.StreamReader) -> bytes:
    """One request, head and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return head + await reader.readexactly(length)


async def answer_with(*answers: bytes, closing: bool = False) -> Any:
    """What an endpoint makes of these answers, one a call; every answer comes in two halves."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            await request_of(reader)
            for half in (answer[: len(answer) // 2], answer[len(answer) // 2 :]):
                writer.write(half)
                await asyncio.sleep(0.001)
        if not closing:
            await reader.read()

    async with speaking(speak) as port:
        endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", "m", max_attempts=1, timeout_s=2)
        try:
            return [await endpoint.chat(ASK) for _ in answers]
        finally:
            await endpoint.close()


@pytest.mark.parametrize(
    ("answer", "closing"),
    [
        (WHOLE, False),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n" + BODY[:5] + b"\r\n%x;x=1\r\n" % len(BODY[5:]) + BODY[5:]
         + b"\r\n0\r\nTrailer: x\r\n\r\n", False),
        (HEAD + b"\r\n" + BODY, True),
        (b"HTTP/1.0 200 OK\r\n\r\n" + BODY, True),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + WHOLE, False),
    ],
    ids=["length", "chunks", "until the end", "HTTP/1.0", "after a hint"],
)  # fmt: skip
async def test_a_body_is_read_however_its_end_is_marked(answer: bytes, closing: bool) -> None:
    [reply] = await answer_with(answer, closing=closing)
    assert reply.text == "Hi"


async def test_two_calls_go_over_one_connection() -> None:
    assert [reply.text for reply in await answer_with(WHOLE, WHOLE)] == ["Hi", "Hi"]


async def test_a_server_that_closes_after_every_answer_is_connected_to_again() -> None:
    connections = 0

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await request_of(reader)
        writer.write(WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))

    async with speaking(speak) as port:
        endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", "m", max_attempts=1)
        assert [(await endpoint.chat(ASK)).attempts for _ in range(3)] == [1, 1, 1]
        await endpoint.close()
    assert connections == 3


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.9\r\n", "malformed", "no HTTP"),
        (WHOLE[:-5], "malformed", "broke off"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", "malformed", "broke off"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nnot-a-length\r\n", "malformed", "no HTTP"),
        (HEAD[:20], "connection", "cannot reach"),
        (b"", "connection", "cannot reach"),
    ],
)
async def test_an_answer_that_goes_wrong_is_a_fault_and_not_a_hang(answer: bytes, kind: str, words: str) -> None:
    with pytest.raises(UpstreamError, match=words) as caught:
        await answer_with(answer, closing=True)
    assert caught.value.kind == kind


async def test_a_call_that_is_given_up_takes_its_connection_with_it() -> None:
    gone = asyncio.Event()

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        assert await reader.read() == b""
        gone.set()

    async with speaking(speak) as port:
        endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", "m")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await endpoint.chat(ASK)
        async with asyncio.timeout(5):
            await gone.wait()
        await endpoint.close()


@pytest.fixture
def certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's TLS for localhost, which this process trusts."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    command = [*make.split(), "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


async def secure(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        await request_of(reader)
        writer.write(WHOLE)


async def test_https_is_spoken_with_a_trusted_server_only(
    certified: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with speaking(secure, ssl=certified) as port:
        endpoint = Endpoint(f"https://localhost:{port}/v1", "m", max_attempts=1)
        assert [(await endpoint.chat(ASK)).text for _ in range(2)] == ["Hi", "Hi"]
        await endpoint.close()
        monkeypatch.delenv("SSL_CERT_FILE")
        stranger = Endpoint(f"https://localhost:{port}/v1", "m", max_attempts=1)
        with pytest.raises(UpstreamError, match="certificate"):
            await stranger.chat(ASK)


async def test_https_goes_through_the_proxy_of_the_environment(
    certified: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads: list[bytes] = []
    async with speaking(secure, ssl=certified) as port:

        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            if b"Basic YW5uOnM=" not in heads[-1]:  # ann:s
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
                return
            onward, back = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(copy(reader, back), copy(onward, writer))

        async with speaking(proxy) as proxy_port:
            monkeypatch.delenv("no_proxy", raising=False)
            monkeypatch.delenv("NO_PROXY", raising=False)
            monkeypatch.setenv("https_proxy", f"http://ann:s@127.0.0.1:{proxy_port}")
            endpoint = Endpoint(f"https://localhost:{port}/v1", "m", max_attempts=1)
            assert [(await endpoint.chat(ASK)).text for _ in range(2)] == ["Hi", "Hi"]
            await endpoint.close()
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy_port}")
            refused = Endpoint(f"https://localhost:{port}/v1", "m", max_attempts=1)
            with pytest.raises(UpstreamError, match=r"the proxy .* refused: HTTP 407"):
                await refused.chat(ASK)
    assert heads[0].startswith(f"CONNECT localhost:{port} HTTP/1.1\r\n".encode())
    assert len(heads) == 2


async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while piece := await source.read(65536):
        target.write(piece)
    target.close()
