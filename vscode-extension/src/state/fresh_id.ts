/** Identifiers that nobody else has, also where the page is not served securely and has no `randomUUID`. */

export function freshId(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
