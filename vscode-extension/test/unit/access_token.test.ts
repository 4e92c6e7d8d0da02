import { describe, expect, it } from "vitest";

import { AccessToken } from "../../src/web/access_token";

function tab(hash: string, kept?: string) {
  const values = new Map(kept === undefined ? [] : [["hermes.token", kept]]);
  const addresses: string[] = [];
  const access = new AccessToken({
    location: { hash, pathname: "/", search: "" },
    history: { replaceState: (_, __, url) => void addresses.push(String(url)) },
    storage: {
      getItem: (key) => values.get(key) ?? null,
      setItem: (key, value) => void values.set(key, value),
      removeItem: (key) => void values.delete(key),
    },
  });
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

  it("is forgotten when it is refused", () => {
    const { access } = tab("", "kept");
    access.forget();
    expect(access.take()).toBe("");
  });
});
