// Without an installed server: uvx runs the extension's wheel, or a button installs it; old servers are
// named.
//
// Usage: install.mjs CONFIG_AS_JSON with the fields that a scene needs, `uv` (the folder of uvx), `old` (a server that is too old),
// `caches` (variables with the folders of downloads).
// The wheel's dependencies are installed from the package index.

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { bounded, Scene, until } from "./scene.mjs";
import { UNHEARD_MS } from "./window.mjs";

const SLOW_MS = 240_000;
const { uv, old, caches, ...config } = JSON.parse(process.argv[2]);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const scene = await Scene.open({ ...config, path: `${uv}:/usr/bin:/bin`, machine: {}, variables: caches });
const { window } = scene;
const shot = scene.shot.bind(scene);
const { page, panel } = window;
const status = page.locator('.statusbar-item[id*="hermes.status"]');

/** Return whether something becomes visible soon. */
const soon = (what) => what.waitFor({ timeout: UNHEARD_MS }).then(() => true, () => false);

async function set(values) {
  const path = join(scene.editor.folder, "data", "Machine", "settings.json");
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), ...values }));
}

/** The extension's own installation of the server. */
const storage = join(scene.editor.folder, "data", "User", "globalStorage", "hermes-acp.hermes-acp", "server");

/** Return which program installed the server there. */
async function installerName() {
  const [version] = await readdir(join(storage, "lib"));
  const packages = join(storage, "lib", version, "site-packages");
  const record = (await readdir(packages)).find((name) => /^hermes_acp_server-.*\.dist-info$/.test(name));
  return (await readFile(join(packages, record, "INSTALLER"), "utf8")).trim();
}

/** Return the command line of the running server. */
async function commandLine() {
  const [agent] = await until(async () => {
    const found = await scene.agents();
    return found.length > 0 && found;
  }, "a server runs");
  return (await readFile(`/proc/${agent}/cmdline`, "utf8")).replaceAll("\0", " ");
}

async function isFetchedByUvx() {
  await window.load();
  await window.openPanel();
  await window.prompt("hello");
  await panel.getByText("I am ready.").waitFor({ timeout: SLOW_MS });
  const line = await commandLine();
  if (!/uv/.test(line)) throw new Error(`not from uvx: ${line}`);
  const lines = await Promise.all((await scene.agents()).map((agent) => readFile(`/proc/${agent}/cmdline`, "utf8")));
  if (!lines.some((each) => /--from\0\S*\/hermes-acp\.hermes-acp-[^/]*\/dist\/hermes_acp_server-[^/]+\.whl\0/.test(each)))
    throw new Error(`not from the extension's wheel: ${lines.join("; ")}`);
}

async function namesAnOldOne() {
  await set({ "hermes.server.command": old });
  await until(async () => {
    await window.run("Hermes: Restart the Server");
    await status.filter({ hasText: "Hermes" }).first().waitFor();
    return panel.getByText("is version 0.0.1").isVisible();
  }, "the old server is named");
  await panel.getByRole("alert").getByRole("button", { name: "Open the settings" }).waitFor();
  await until(async () => /failed/.test((await status.locator("a").getAttribute("aria-label")) ?? ""), "the status item says so");
  // Other requested starts may still be in progress; then the item says so for a moment.
  await until(async () => {
    await page.mouse.move(600, 400);
    await status.hover();
    return soon(page.locator(".monaco-hover").filter({ hasText: "Open the settings" }).first());
  }, "the status item tells what helps");
  await shot("light-old-server");
  await page.mouse.move(600, 400);
  await until(async () => {
    await status.locator("a").click();
    return soon(page.locator(".settings-editor"));
  }, "a click leads to the settings");
}

async function isInstalledByTheOneButton() {
  await set({ "hermes.server.command": "" });
  await window.run("Hermes: Install or Update the Server");
  const venv = /globalStorage\/hermes-acp\.hermes-acp\/server/i;
  await until(async () => venv.test(await commandLine().catch(() => "")), "the own installation runs", SLOW_MS);
  await until(async () => (await panel.getByRole("alert").count()) === 0, "nothing stands in the way", SLOW_MS);
  await window.prompt("hello again");
  await until(async () => (await panel.getByText("I am ready.").count()) === 2, "it answers");
  if ((await installerName()) !== "uv") throw new Error(`installed by ${await installerName()}`);
}

/** The extension was updated, and its server is a different build from the installed one. Since uv fails, pip installs. */
async function offersTheUpdate() {
  await rm(join(uv, "uv"));
  await writeFile(join(uv, "uv"), '#!/bin/sh\n[ "$1" = --version ] || { echo "no index" >&2; exit 2; }\n', { mode: 0o755 });
  const marker = join(storage, "hermes-wheel.txt");
  const installed = await readFile(marker, "utf8");
  await writeFile(marker, "an earlier build");
  await window.run("Hermes: Restart the Server");
  const banner = panel.getByRole("alert").filter({ hasText: "is a different build of version" });
  await banner.getByRole("button", { name: "Update the server" }).click();
  await banner.waitFor({ state: "detached", timeout: SLOW_MS });
  await until(async () => (await readFile(marker, "utf8").catch(() => "")) === installed, "the update is installed", SLOW_MS);
  if ((await installerName()) !== "pip") throw new Error(`installed by ${await installerName()}`);
  await window.prompt("hello once more");
  await until(async () => (await panel.getByText("I am ready.").count()) === 3, "it answers");
}

try {
  for (const step of [isFetchedByUvx, namesAnOldOne, isInstalledByTheOneButton, offersTheUpdate]) {
    const began = Date.now();
    let error = "";
    try {
      await bounded(step());
    } catch (thrown) {
      error = thrown instanceof Error ? `${thrown.message}\n${thrown.stack ?? ""}` : String(thrown);
      await shot(`failed-${step.name}`).catch(() => undefined);
    }
    say({ name: step.name, seconds: (Date.now() - began) / 1000, error });
  }
} finally {
  await scene.close();
}
