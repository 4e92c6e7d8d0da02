// Builds the extension: one bundle for the host, one script and one style sheet for the panel, one bundle of tests.
import { context } from "esbuild";

const isProduction = process.argv.includes("--production");
const shared = {
  bundle: true,
  logLevel: "warning",
  minify: isProduction,
  sourcemap: isProduction ? false : "linked",
  legalComments: "none",
};
const host = {
  ...shared,
  entryPoints: { extension: "src/extension.ts" },
  outdir: "dist",
  platform: "node",
  target: "node22",
  format: "cjs",
  external: ["vscode"],
};
const panel = {
  ...shared,
  entryPoints: { webview: "src/webview/main.tsx" },
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
const tests = {
  ...host,
  entryPoints: { index: "test/host/index.ts" },
  outdir: "dist-test",
  external: ["vscode", "mocha"],
};

const bundles = isProduction ? [host, panel] : [host, panel, tests];
for (const options of bundles) {
  const bundle = await context(options);
  if (process.argv.includes("--watch")) await bundle.watch();
  else await bundle.rebuild().finally(() => bundle.dispose());
}
