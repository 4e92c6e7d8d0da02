/** Parts of the page that are loaded on first use. */

declare global {
  /** Convert a formula to MathML. Throws for an invalid one. */
  var hermesMath: ((tex: string, isBlock: boolean) => string) | undefined;
  /** Convert a diagram to SVG. Rejects for an invalid one. */
  var hermesDiagram: ((source: string, nonce: string) => Promise<string>) | undefined;
}

const own = document.currentScript instanceof HTMLScriptElement ? document.currentScript : undefined;
const loading = new Map<string, Promise<void>>();

/** The page's nonce for scripts and styles. */
export const nonce = own?.nonce ?? "";

export function load(name: "math" | "diagrams"): Promise<void> {
  const known = loading.get(name);
  if (known) return known;
  const loaded = new Promise<void>((resolve, reject) => {
    const script = document.createElement("script");
    script.nonce = nonce;
    // If file names contain a hash of their content, the page's own script provides the names.
    script.src = new URL(own?.dataset[name] ?? `${name}.js`, own?.src).href;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(name));
    document.head.append(script);
  });
  loading.set(name, loaded);
  return loaded;
}
