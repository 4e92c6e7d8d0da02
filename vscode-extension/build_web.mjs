// Builds the web page that the server delivers, into the server's package: one document, and files with a hash of their content
// in their names, which browsers keep for ever. Texts are compressed.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = join(HERE, "..", "hermes_acp", "frontends", "web", "static");
const MEDIA = join(HERE, "src", "web", "assets");
const COMPRESSED = /\.(js|css|svg|webmanifest)$/;
const NAMES = { entryNames: "[name]-[hash]", assetNames: "[name]-[hash]" };

/** Build with the panel's options; `lean` leaves rare kinds of diagrams out. */
export async function buildWeb(panel, lean) {
  const shared = {
    ...panel,
    ...NAMES,
    outdir: OUT,
    metafile: true,
    write: false,
    target: ["chrome120", "firefox121", "safari17"],
  };
  const chunks = await build({
    ...shared,
    plugins: [lean],
    entryPoints: { math: "src/webview/chunks/math.ts", diagrams: "src/webview/chunks/diagrams.ts" },
  });
  const page = await build({ ...shared, entryPoints: { page: "src/web/main.tsx" } });
  // Only now, so that a failed build keeps the previous page.
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const files = [...chunks.outputFiles, ...page.outputFiles].map(({ path, contents }) =>
    put(path.slice(OUT.length + 1), contents),
  );
  const named = (name, ext) => files.find((file) => file.startsWith(`${name}-`) && file.endsWith(`.${ext}`));
  const icon = (name) => put(hashed(name), readFileSync(join(MEDIA, name)));
  const svg = icon("icon.svg");
  const icons = [
    { src: icon("icon-192.png"), sizes: "192x192", type: "image/png" },
    { src: icon("icon-512.png"), sizes: "512x512", type: "image/png", purpose: "any maskable" },
    { src: svg, sizes: "any", type: "image/svg+xml" },
  ];
  const manifest = {
    name: "Hermes",
    short_name: "Hermes",
    id: "/",
    start_url: "/",
    scope: "/",
    display: "standalone",
    background_color: "#1e1e1e",
    theme_color: "#1e1e1e",
    icons,
  };
  const description = Buffer.from(JSON.stringify(manifest));
  const links = {
    MANIFEST: put(hashed("app.webmanifest", description), description),
    ICON: svg,
    STYLE: named("page", "css"),
    SCRIPT: named("page", "js"),
    MATH: named("math", "js"),
    DIAGRAMS: named("diagrams", "js"),
  };
  const document = readFileSync(join(MEDIA, "index.html"), "utf8");
  put("index.html", Buffer.from(document.replace(/\{(\w+)\}/g, (_, name) => links[name])));
}

function hashed(name, contents = readFileSync(join(MEDIA, name))) {
  const digest = createHash("sha256").update(contents).digest("hex").slice(0, 8).toUpperCase();
  return name.replace(/(\.\w+)$/, `-${digest}$1`);
}

function put(name, contents) {
  if (COMPRESSED.test(name)) writeFileSync(join(OUT, `${name}.gz`), gzipSync(contents, { level: 9 }));
  else writeFileSync(join(OUT, name), contents);
  return name;
}
