/**
 * The token that lets this page in: from the address or a form, kept as long as the tab is open.
 *
 * Knows: the fragment, the tab's storage. Does not know: who checks it.
 * A fragment is never sent to a server; it is removed from the address, and from the history, before anything else happens.
 */

const KEY = "hermes.token";

interface Tab {
  readonly location: Pick<Location, "hash" | "pathname" | "search">;
  readonly history: Pick<History, "replaceState">;
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
}

export class AccessToken {
  constructor(private readonly tab: Tab) {}

  /** Return the token that came with the address, or was kept; empty where there is none. */
  take(): string {
    const { location, history, storage } = this.tab;
    const given = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    if (given) this.keep(given);
    return given || (storage.getItem(KEY) ?? "");
  }

  keep(token: string): void {
    this.tab.storage.setItem(KEY, token);
  }

  /** Forget a token that the server does not accept. */
  forget(): void {
    this.tab.storage.removeItem(KEY);
  }
}
