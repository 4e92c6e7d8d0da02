/** Format a time in the reader's locale, or return an empty string without one. */
export function timeOf(iso: string, zone?: string): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return "";
  const style = { dateStyle: "medium", timeStyle: "short" } as const;
  return new Intl.DateTimeFormat("en", zone ? { ...style, timeZone: zone } : style).format(at);
}
