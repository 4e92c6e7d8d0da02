// Builds the extension: for the host, one bundle that is loaded at once, and one for each heavy part that is loaded on
// first use; one script and one style sheet each for the panel and the pages; one bundle of tests.
import { basename } from "node:path";

import { context } from "esbuild";

import { buildWeb } from "./build_web.mjs";

const isProduction = process.argv.includes("--production");
const shared = {
  bundle: true,
  logLevel: "warning",
  minify: isProduction,
  sourcemap: isProduction ? false : "linked",
  legalComments: "none",
};
// Dynamic imports of the host are separate bundles: the protocol's SDK, the language client.
const LATER = { link: "src/acp/link.ts", language_client: "src/editor/language_client.ts" };
const later = {
  name: "later",
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ kind, path }) => {
      const name = basename(path);
      if (kind !== "dynamic-import") return undefined;
      if (name in LATER) return { path: `./${name}.js`, external: true };
      return { errors: [{ text: `${path} is imported dynamically and has no bundle of its own` }] };
    });
  },
};
const host = {
  ...shared,
  entryPoints: { extension: "src/extension.ts", ...LATER },
  plugins: [later],
  supported: { "dynamic-import": false },
  outdir: "dist",
  platform: "node",
  target: "node22",
  format: "cjs",
  external: ["vscode"],
};
const panel = {
  ...shared,
  entryPoints: { webview: "src/webview/main.tsx", pages: "src/webview/pages/main.tsx" },
  outdir: "dist",
  platform: "browser",
  target: "chrome130",
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".ttf": "file" },
  assetNames: "[name]",
  define: { "process.env.NODE_ENV": JSON.stringify(isProduction ? "production" : "development") },
};
// A third of Mermaid draws what is rarely asked for (mind maps, architectures, Wardley maps, formulas in diagrams); that is shown
// as its source.
const lean = {
  name: "lean",
  setup(build) {
    build.onResolve(
      { filter: /^(cytoscape(-[\w-]+)?|katex)$|\/(wardley|venn|ishikawa|cynefin|swimlanes)\w*-\w+\.mjs$/ },
      ({ path, importer }) => (/[\\/]mermaid[\\/]/.test(importer) ? { path, namespace: "left-out" } : undefined),
    );
    build.onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "export default undefined;" }));
  },
};
// Parts that only some messages need are separate scripts, loaded with the first such message.
const chunks = {
  ...panel,
  plugins: [lean],
  entryPoints: { math: "src/webview/chunks/math.ts", diagrams: "src/webview/chunks/diagrams.ts" },
};
const tests = {
  ...host,
  plugins: [],
  entryPoints: { index: "test/host/index.ts" },
  outdir: "dist-test",
  external: ["vscode", "mocha"],
};

if (process.argv.includes("--web")) {
  await buildWeb({ ...panel, minify: true, sourcemap: false }, lean);
  process.exit();
}

const bundles = isProduction ? [host, panel, chunks] : [host, panel, chunks, tests];
for (const options of bundles) {
  const bundle = await context(options);
  if (process.argv.includes("--watch")) await bundle.watch();
  else await bundle.rebuild().finally(() => bundle.dispose());
}
