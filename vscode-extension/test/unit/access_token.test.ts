import { describe, expect, it } from "vitest";

import { AccessToken } from "../../src/web/access_token";

function tab(hash: string, kept?: string, isShared = false) {
  const values = new Map(kept === undefined ? [] : [["hermes.token", kept]]);
  const addresses: string[] = [];
  const page = {
    location: { hash, pathname: "/", search: "" },
    history: { replaceState: (_: unknown, __: string, url?: string | URL | null) => void addresses.push(String(url)) },
    storage: {
      getItem: (key: string) => values.get(key) ?? null,
      setItem: (key: string, value: string) => void values.set(key, value),
      removeItem: (key: string) => void values.delete(key),
    },
  };
  const access = new AccessToken(page, isShared);
  return { access, values, addresses };
}

describe("the token of the page", () => {
  it("comes with the address, is kept, and is gone from the address", () => {
    const { access, values, addresses } = tab("#token=se%2Bcret-_1");
    expect(access.take()).toBe("se+cret-_1");
    expect([...values.values()]).toEqual(["se+cret-_1"]);
    expect(addresses).toEqual(["/"]);
  });

  it("is the one that was kept after a reload", () => {
    const { access, addresses } = tab("", "kept");
    expect(access.take()).toBe("kept");
    expect(addresses).toEqual([]);
  });

  it("is not taken from an address that somebody else may have sent", () => {
    const { access, values, addresses } = tab("#token=trap", "mine", true);
    expect(access.take()).toBe("mine");
    expect([...values.values()]).toEqual(["mine"]);
    expect(addresses).toEqual(["/"]);
  });

  it("is taken once by the tab that left to sign in", () => {
    const { access } = tab("#token=given", undefined, true);
    access.expect();
    expect(access.take()).toBe("given");
    access.forget();
    expect(access.take()).toBe("");
  });

  it("is forgotten when it is refused", () => {
    const { access } = tab("", "kept");
    access.forget();
    expect(access.take()).toBe("");
  });
});
