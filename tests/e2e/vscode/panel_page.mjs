// The documents of the panel and the pages in a browser, without an editor: keys, widths, messages.
//
// Usage: panel_page.mjs CONFIG_AS_JSON [NAME…], with the extension's folder. Prints the result of each check as a line of JSON.
// A check acts as the host: it sends what a host sends, and examines what the page shows and posts.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { CHECKS } from "./panel_checks.mjs";
import { startBrowser } from "./window.mjs";

const [config, ...names] = process.argv.slice(2);
const { extension } = JSON.parse(config);
const WAIT_MS = 15_000;
const SHELL = {
  server: "ready", tabs: [{ id: "s", name: "Tidy shop.py", activity: "idle" }], active: "s", hasFolder: true, isTrusted: true, takesImages: false,
  canFork: false, canRename: false, judgesHunks: true, canSearch: false, canSteer: true, canRewind: false, isInEditor: true, roots: ["/p"],
};
const SESSION = {
  id: "s", cwd: "/p", title: "", items: [], terminals: {}, plan: [], commands: [], options: [], turns: [], failedStep: "", queue: [], isHeld: false,
  sources: [],
};
const COLOURS = { "editorWidget-background": "#f3f3f3", descriptionForeground: "#666", "font-size": "13px", "font-family": "sans-serif", foreground: "#222", "editor-background": "#fff", "list-hoverBackground": "#eee", "list-activeSelectionBackground": "#08f" };

class Stage {
  constructor(browser) {
    this.browser = browser;
  }

  /** Open a bundle in a page of a given width; `kept` is the page's state from an earlier load. */
  async open({ bundle = "webview", width = 420, kept, place = "view", time } = {}) {
    await this.page?.close();
    this.page = await this.browser.newPage({ viewport: { width, height: 700 } });
    this.page.setDefaultTimeout(WAIT_MS);
    const style = await readFile(join(extension, "dist", `${bundle}.css`), "utf8");
    await this.page.route("http://panel.test/**", async (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === "/") return route.fulfill({ contentType: "text/html", body: `<html class="in-${place}"><body><div id="root"></div></body></html>` });
      return route.fulfill({ contentType: "text/javascript", body: await readFile(join(extension, "dist", pathname.slice(1))) });
    });
    // If a check sets the clock, the page uses only that.
    if (time !== undefined) await this.page.clock.install({ time });
    await this.page.goto("http://panel.test/");
    await this.page.addStyleTag({ content: style });
    const colours = Object.entries(COLOURS).map(([name, colour]) => `--vscode-${name}: ${colour};`).join(" ");
    await this.page.addStyleTag({ content: `:root { ${colours} }` });
    await this.page.evaluate((before) => {
      window.posted = [];
      window.state = before;
      window.acquireVsCodeApi = () => ({ postMessage: (message) => window.posted.push(message), getState: () => window.state, setState: (next) => (window.state = next) });
    }, kept);
    await this.page.addScriptTag({ url: `http://panel.test/${bundle}.js` });
    return this.page;
  }

  send(message) {
    return this.page.evaluate((data) => window.dispatchEvent(new MessageEvent("message", { data })), message);
  }

  /** Show a session and its surroundings. */
  async show(session = {}, shell = {}) {
    await this.send({ type: "session", session: { ...SESSION, ...session } });
    await this.send({ type: "shell", shell: { ...SHELL, ...shell } });
  }

  /** Return the posted messages of a type. */
  async posted(type) {
    return (await this.page.evaluate(() => window.posted)).filter((each) => each.type === type);
  }
}

const browser = await startBrowser();
const stage = new Stage(browser);
try {
  for (const check of CHECKS.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const began = Date.now();
    const error = await check(stage).then(() => "", (thrown) => (thrown instanceof Error ? `${thrown.message}\n${thrown.stack}` : String(thrown)));
    process.stdout.write(`${JSON.stringify({ name: check.name, seconds: (Date.now() - began) / 1000, error })}\n`);
  }
} finally {
  await browser.close();
}
