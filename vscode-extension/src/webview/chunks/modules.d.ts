/** The used parts of the packages that only chunks load. */
declare module "katex" {
  interface Options {
    readonly displayMode: boolean;
    readonly output: "mathml";
    readonly throwOnError: boolean;
    readonly trust: boolean;
    readonly strict: false;
    readonly maxSize: number;
    readonly maxExpand: number;
  }
  const katex: { renderToString(tex: string, options: Options): string };
  export default katex;
}

declare module "mermaid" {
  const mermaid: {
    initialize(config: Readonly<Record<string, unknown>>): void;
    parse(source: string): Promise<unknown>;
    render(id: string, source: string): Promise<{ readonly svg: string }>;
  };
  export default mermaid;
}
