/**
 * The page's access token: from the address or a form, stored while the tab is open.
 *
 * A fragment is never sent to a server; it is removed from the address, and from the history, before anything else
 * happens.
 */

const KEY = "hermes.token";
const EXPECTED = "hermes.signing-in";

interface Tab {
  readonly location: Pick<Location, "hash" | "pathname" | "search">;
  readonly history: Pick<History, "replaceState">;
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
}

export class AccessToken {
  /** With `isShared`, several users are served, and an address with a token may be somebody else's trap. */
  constructor(
    private readonly tab: Tab,
    private readonly isShared = false,
  ) {}

  /** Return the expected token from the address, or the stored one, or an empty string. */
  take(): string {
    const { location, history, storage } = this.tab;
    const isExpected = !this.isShared || storage.getItem(EXPECTED) !== null;
    const given = (isExpected && new URLSearchParams(location.hash.slice(1)).get("token")) || "";
    storage.removeItem(EXPECTED);
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    if (given) this.keep(given);
    return given || (storage.getItem(KEY) ?? "");
  }

  /** Record that this tab leaves to sign in, and will return with a token. */
  expect(): void {
    this.tab.storage.setItem(EXPECTED, "yes");
  }

  keep(token: string): void {
    this.tab.storage.setItem(KEY, token);
  }

  /** Discard the token, because the server rejected it or the user signed out. */
  forget(): void {
    this.tab.storage.removeItem(KEY);
  }
}
