"""Sign-in at a real MCP server that requires it: a whole OAuth flow with a scripted browser."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import AnyUrl

from hermes_acp.core.proposals import Question, Reply
from hermes_acp.mcp.server_definitions import Challenge, HttpServer, OAuth, ServerContext, SignInFailed
from hermes_acp.mcp.sign_in.oauth_callback import serve_callback
from hermes_acp.mcp.sign_in.server_login import complete_sign_in
from hermes_acp.mcp.sign_in.token_store import TokenFile
from tests.contract.guarded_server import Guarded, guarded, sign_in_at
from tests.contract.mcp_playground import QUICK, Playground, Reports, playing

pytestmark = pytest.mark.anyio
ADD = "mcp__guarded__add"


class Visitor(Reports):
    """A user whose editor opens pages, and who agrees there."""

    async def inquire(self, question: Question) -> Reply | None:
        self.asked.append(question)
        assert (await sign_in_at(question.url)).text.count("signed in") == 1
        return Reply("opened")


@asynccontextmanager
async def signed_out_server(place: Path) -> AsyncGenerator[tuple[Guarded, Playground]]:
    """Yield a server that requires a sign-in, and a user who is not signed in."""
    async with AsyncExitStack() as stack:
        sign_in_server = await stack.enter_async_context(guarded())
        spec = HttpServer("guarded", sign_in_server.url)
        surroundings = ServerContext(
            str(place), (), {}, place / "logs", str, can_ask=True, keys=place / "mcp-tokens"
        )
        playground = await stack.enter_async_context(playing(place, surroundings, spec, timeouts=QUICK))
        yield sign_in_server, playground


async def enter(playground: Playground) -> Visitor:
    visitor = Visitor()
    (server_login,) = playground.servers.logins()
    assert await complete_sign_in(server_login, visitor.inquire)
    while ADD not in playground.servers.tools():
        await anyio.sleep(0.01)
    return visitor


async def test_a_user_signs_in_once_and_stays_signed_in(tmp_path: Path) -> None:
    async with signed_out_server(tmp_path) as (sign_in_server, playground):
        assert playground.servers.tools() == {}
        (login_prompt,) = playground.servers.news()
        assert "hermes-acp mcp login guarded" in login_prompt
        visitor = await enter(playground)
        assert visitor.asked[0].url.startswith(f"{sign_in_server.address}/authorize?")
        assert "code_challenge_method=S256" in visitor.asked[0].url
        assert "42" in (await playground.call(ADD, a=2, b=40)).text
        assert "You are [token of this server]." in (await playground.call("mcp__guarded__tattle")).text
        (kept,) = (tmp_path / "mcp-tokens").glob("*.json")
        assert kept.stat().st_mode & 0o777 == 0o600
        assert kept.parent.stat().st_mode & 0o777 == 0o700
        spec = HttpServer("guarded", sign_in_server.url)
        again = ServerContext(str(tmp_path), (), {}, tmp_path / "logs", str, keys=tmp_path / "mcp-tokens")
        async with playing(tmp_path, again, spec, timeouts=QUICK) as other:
            assert "3" in (await other.call(ADD, a=1, b=2)).text
        assert sign_in_server.keeper.signs_in == 1
        assert len(sign_in_server.keeper.clients) == 1


async def test_a_rejected_token_is_renewed_once_for_all_calls(tmp_path: Path) -> None:
    async with signed_out_server(tmp_path) as (sign_in_server, playground):
        await enter(playground)
        sign_in_server.keeper.forget_access()
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(playground.call, ADD)
        assert "42" in (await playground.call(ADD, a=2, b=40)).text
        assert (sign_in_server.keeper.renewals, sign_in_server.keeper.signs_in) == (1, 1)


async def test_a_token_is_renewed_before_it_expires(tmp_path: Path) -> None:
    async with signed_out_server(tmp_path) as (sign_in_server, playground):
        sign_in_server.keeper.expires_in = 1
        await enter(playground)
        sign_in_server.keeper.expires_in = 3600
        assert "42" in (await playground.call(ADD, a=2, b=40)).text
        renewals = sign_in_server.keeper.renewals
        assert renewals >= 1
        assert "42" in (await playground.call(ADD, a=2, b=40)).text
        assert (sign_in_server.keeper.renewals, sign_in_server.keeper.signs_in) == (renewals, 1)


async def test_a_rejected_renewal_asks_again_in_the_call_and_then_makes_it(tmp_path: Path) -> None:
    async with signed_out_server(tmp_path) as (sign_in_server, playground):
        await enter(playground)
        sign_in_server.keeper.forget_access()
        sign_in_server.keeper.refuses = True
        visitor = Visitor()
        result = await playground.call(ADD, visitor, a=2, b=40)
        assert "42" in result.text
        assert len(visitor.asked) == 1
        assert "wants you to sign in" in visitor.asked[0].text


async def test_without_anybody_to_ask_the_error_says_what_to_do(tmp_path: Path) -> None:
    async with signed_out_server(tmp_path) as (sign_in_server, playground):
        await enter(playground)
        sign_in_server.keeper.forget_access()
        sign_in_server.keeper.refuses = True
        for reply in (None, Reply("declined")):
            result = await playground.call(ADD, Reports(reply), a=2, b=40)
            assert result.is_error
            assert "hermes-acp mcp login guarded" in result.text
        assert list((tmp_path / "mcp-tokens").glob("*.json")) == []


async def test_a_user_whose_sign_in_is_denied_sees_why(tmp_path: Path) -> None:
    async with signed_out_server(tmp_path) as (sign_in_server, playground):
        sign_in_server.keeper.denies = True
        (server_login,) = playground.servers.logins()
        flow = server_login.flow()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(flow.run)
            assert "was refused" in (await sign_in_at(await flow.wait_for_link())).text
            await flow.wait_until_done()
        assert flow.failure == "The sign-in was refused: access_denied."


async def test_a_preregistered_client_is_used(tmp_path: Path) -> None:
    from hermes_acp.mcp.sign_in.oauth_flow import sign_in

    async with guarded() as sign_in_server:
        async with serve_callback() as free:
            port = urlsplit(free.address).port or 0
        known = OAuthClientInformationFull(
            client_id="registered",
            client_secret="its-secret",
            redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}/callback")],
            token_endpoint_auth_method="client_secret_post",
            scope="use",
        )
        await sign_in_server.keeper.register_client(known)
        spec = HttpServer("guarded", sign_in_server.url, oauth=OAuth("registered", "its-secret", port=port))
        file = TokenFile(tmp_path / "keys", sign_in_server.url)

        async def browse(link: str) -> None:
            assert (await sign_in_at(link)).status_code == 200

        await sign_in(spec, file, Challenge(), browse)
        keys = await file.read()
        assert keys
        assert keys.client["client_id"] == "registered"
        assert list(sign_in_server.keeper.clients) == ["registered"]


async def test_a_server_that_needs_more_scopes_also_gets_those_granted_before(tmp_path: Path) -> None:
    from hermes_acp.mcp.sign_in.oauth_flow import sign_in

    links: list[str] = []

    async def browse(link: str) -> None:
        links.append(link)
        assert (await sign_in_at(link)).status_code == 200

    async with guarded() as sign_in_server:
        spec, file = (
            HttpServer("guarded", sign_in_server.url),
            TokenFile(tmp_path / "keys", sign_in_server.url),
        )
        await sign_in(spec, file, Challenge(), browse)
        wanting = Challenge(403, 'Bearer error="insufficient_scope", scope="more"')
        await sign_in(spec, file, wanting, browse)
    scopes = [parse_qs(urlsplit(link).query)["scope"][0].split() for link in links]
    assert scopes == [["use"], ["use", "more"]]


async def test_only_the_answer_to_our_own_request_counts() -> None:
    async with serve_callback() as callback_server:
        callback_server.expect("https://example.com/authorize?state=right")
        for query, status in (
            ("code=stolen&state=wrong", 400), ("code=stolen", 400), ("state=right", 400),
            ("code=ours&state=right", 200), ("code=late&state=right", 200),
        ):  # fmt: skip
            assert (await sign_in_at(f"{callback_server.address}?{query}")).status_code == status
        assert (await sign_in_at(callback_server.address.replace("callback", "other"))).status_code == 404
        assert (await callback_server.wait_for_redirect())["code"] == "ours"


async def test_an_abandoned_sign_in_leaves_no_open_port(tmp_path: Path) -> None:
    from hermes_acp.mcp.sign_in.oauth_flow import sign_in

    links: list[str] = []

    async def show(link: str) -> None:
        links.append(link)

    async with guarded() as sign_in_server:
        spec, file = (
            HttpServer("guarded", sign_in_server.url),
            TokenFile(tmp_path / "keys", sign_in_server.url),
        )
        with pytest.raises(SignInFailed, match="Nobody signed in within"):
            await sign_in(spec, file, Challenge(), show, wait_s=1)
    assert len(links) == 1
    assert await file.read() is None


@pytest.mark.parametrize(
    "link", ["http://elsewhere.example/authorize", "javascript:alert(1)", "file:///etc/passwd"]
)
async def test_a_sign_in_never_leads_to_an_unsafe_page(tmp_path: Path, link: str) -> None:
    from hermes_acp.mcp.sign_in.oauth_flow import require_safe_url

    with pytest.raises(SignInFailed, match="not a safe page"):
        require_safe_url(link, "http://127.0.0.1:80/mcp")
    with pytest.raises(SignInFailed, match="not a safe page"):
        require_safe_url("http://127.0.0.1/x", "https://mcp.example.com/mcp")
    require_safe_url("https://elsewhere.example/authorize", "https://mcp.example.com/mcp")


async def test_keys_belong_to_an_address_and_are_never_shown(tmp_path: Path) -> None:
    from hermes_acp.mcp.sign_in.token_store import StoredTokens

    file = TokenFile(tmp_path, "https://one.example/mcp")
    keys = StoredTokens("https://one.example/mcp", {"access_token": "opaque-secret"}, {"client_id": "x"})
    await file.write(keys)
    assert await TokenFile(tmp_path, "https://ONE.example/mcp/").read() == keys
    assert await TokenFile(tmp_path, "https://two.example/mcp").read() is None
    assert "opaque-secret" not in repr(keys)
    (path,) = tmp_path.glob("*.json")
    path.write_bytes(b"{")
    assert await file.read() is None
