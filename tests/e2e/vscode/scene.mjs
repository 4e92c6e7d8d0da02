// Everything a scenario needs: a project, a scripted model, a window of a real editor.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { startBrowser, startEditor, UNHEARD_MS, WAIT_MS, Window } from "./window.mjs";

export const SHOP = `def greet(name):
    return 'Hello ' + name


def total(items):
    result = 0
    for item in items:
        result += item
    return result


print(greet('world'))
`;
const FILES = {
  "shop.py": SHOP,
  "notes.txt": "hello\n",
  "list.txt": "one\ntwo\nthree\nfour\nfive\n",
  "inline.py": "first = 1\nword = 'hush'\nlast = 2\n",
  "ghost.py": "",
};

/** The time limit of one scenario, which waits for many things in turn, each with its own limit. */
const SCENARIO_MS = 900_000;

/** The package index and the trusted certificates: those of the machine, not of the scene. */
const FOR_DOWNLOADS = /^(SSL_CERT_|PIP_|UV_|HTTPS?_PROXY|NO_PROXY|https?_proxy|no_proxy)/;

export class Scene {
  residents = [];

  static async open({ folder, vsix, command, python, script, shots, root, path, machine, variables }) {
    const scene = new Scene();
    scene.project = join(folder, "project");
    scene.second = join(folder, "second");
    scene.home = join(folder, "home");
    scene.shots = shots;
    scene.axe = await readFile(join(root, "vscode-extension", "node_modules", "axe-core", "axe.min.js"), "utf8");
    await mkdir(scene.project, { recursive: true });
    await mkdir(scene.home, { recursive: true });
    await mkdir(scene.second, { recursive: true });
    await mkdir(shots, { recursive: true });
    await mkdir(join(scene.home, ".hermes"), { recursive: true });
    await writeFile(join(scene.home, ".hermes", "config.yaml"), "fallbacks: [openai/scripted-small]\n");
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(scene.project, name), text);
    await writeFile(join(folder, "both.code-workspace"), JSON.stringify({ folders: [{ path: "project" }, { path: "second" }] }));
    scene.both = join(folder, "both.code-workspace");
    const played = join(folder, "script.json");
    await writeFile(played, (await readFile(script, "utf8")).replaceAll("@SECOND@", scene.second));
    await scene.startModel(folder, python, played, root);
    // The editor asks a login shell for the PATH.
    if (path) for (const name of [".profile", ".bash_profile"]) await writeFile(join(scene.home, name), `export PATH="${path}"\n`);
    scene.command = command;
    const env = (scene.environment = {
      SHELL: "/bin/bash",
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => FOR_DOWNLOADS.test(name))),
      PATH: path ?? process.env.PATH,
      HOME: scene.home,
      OPENAI_BASE_URL: `${scene.model}/v1`,
      OPENAI_API_KEY: "sk-test-openai",
      HERMES_MODEL: "scripted-large",
      ...variables,
    });
    scene.editor = await startEditor({ folder: join(folder, "editor"), vsix, env, machine: machine ?? { "hermes.server.command": command, "hermes.lsp.enabled": true, "hermes.lsp.inlineCompletion": true } });
    scene.browser = await startBrowser();
    scene.window = await Window.open(scene.browser, scene.editor, scene.project);
    return scene;
  }

  async startModel(folder, python, script, root) {
    const portFile = join(folder, "port");
    const args = ["-m", "tests.model_server", "--script", script, "--port-file", portFile];
    this.modelProcess = spawn(python, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, PYTHONPATH: join(root, "protocol") } });
    const [line] = await once(this.modelProcess.stdout, "data");
    this.model = /listening (\S+)/.exec(String(line))[1];
  }

  async openGate(name) {
    await fetch(`${this.model}/_gates/${name}`, { method: "POST" });
  }

  /** Everything that was sent to the model, as text. */
  async heardByModel() {
    return (await fetch(`${this.model}/_log`)).text();
  }

  text(name) {
    return readFile(join(this.project, name), "utf8");
  }

  async shot(name) {
    await this.window.page.screenshot({ path: join(this.shots, `${name}.png`) });
  }

  /** Return the agents' processes, found by their home folder; a language server does not count. */
  async agents() {
    const found = [];
    for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
      const [environ, line] = await Promise.all(
        ["environ", "cmdline"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
      );
      const isAgent = /hermes[-_]acp/.test(line) && !/\0lsp\0/.test(line) && !line.includes("server-main.js") && !line.includes("bootstrap-fork");
      if (isAgent && environ.split("\0").includes(`HOME=${this.home}`)) found.push(Number(pid));
    }
    return found;
  }

  /** Return the only agent. The agent of a closed window ends a little later than the window. */
  agent() {
    return until(async () => {
      const [one, ...others] = await this.agents();
      return others.length === 0 && one;
    }, "one agent is left");
  }

  /** Start a resident process for the scene's home; return it once it listens. */
  async startResident() {
    const resident = spawn(this.command, ["daemon", "run"], { cwd: this.project, stdio: ["ignore", "ignore", "pipe"], env: this.environment });
    this.residents.push(resident);
    let heard = "";
    resident.stderr.on("data", (data) => (heard += data));
    await until(() => heard.includes("is ready"), "the resident process is ready");
    return resident;
  }

  async close() {
    for (const resident of this.residents) resident.kill("SIGKILL");
    await this.browser?.close();
    await this.editor?.stop();
    this.modelProcess?.stdin.end();
  }
}

/** Wait for a scenario; one that hangs fails like any other. */
export async function bounded(played) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it hung for ${SCENARIO_MS / 1000} s`)), SCENARIO_MS);
  });
  await Promise.race([played, late]).finally(() => clearTimeout(timer));
}

/** Poll until a condition holds, within the usual time limit. */
export async function until(isSo, what, waitMs = WAIT_MS) {
  const end = Date.now() + waitMs;
  for (;;) {
    const value = await isSo();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited too long: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Press a key in the editor's text until it has had its effect. The meaning of a key depends on the window's context, and parts of
 * that (the kind of file, whether it has edits) are updated a little later than the screen; until then, the key has another effect, or none.
 */
export async function pressUntil(page, key, isSo, what) {
  await until(async () => {
    await page.keyboard.press(key);
    const end = Date.now() + UNHEARD_MS;
    while (!(await isSo()) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
    if (await isSo()) return true;
    await page.keyboard.press("Escape");
    return false;
  }, what);
}

export function expect(value, wanted, what) {
  if (value !== wanted) throw new Error(`${what}: ${JSON.stringify(value)} instead of ${JSON.stringify(wanted)}`);
}
