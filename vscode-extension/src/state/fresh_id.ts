/** Unique identifiers, even in an insecure context without `randomUUID`. */

export function freshId(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
