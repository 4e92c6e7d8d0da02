import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import type { Link } from "../../src/acp/link";
import { readBundled } from "../../src/server/bundled";
import { findCommand, isNewEnough, type Surroundings } from "../../src/server/command";
import { reasonOf } from "../../src/server/install";
import { ServerLife } from "../../src/server/life";
import { ServerError, type State } from "../../src/server/state";
import type { ServerProcess } from "../../src/server/process";

const around = (there: readonly string[], more: Partial<Surroundings> = {}): Surroundings => ({
  configured: "",
  configuredArgs: [],
  package: "/extension/dist/server.whl",
  searchPath: "/usr/bin:/opt/bin",
  home: "/home/me",
  storage: "/storage",
  isWindows: false,
  isExecutable: (path) => Promise.resolve(there.includes(path)),
  ...more,
});

describe("finding the command", () => {
  it("takes the setting before anything else", async () => {
    const found = await findCommand(around(["/usr/bin/hermes-acp"], { configured: "/mine", configuredArgs: ["acp"] }));
    expect(found).toMatchObject({ path: "/mine", args: ["acp"] });
  });

  it("looks along the path, then in the usual places, then for uvx", async () => {
    expect((await findCommand(around(["/opt/bin/hermes-acp", "/home/me/.local/bin/hermes-acp"])))?.path).toBe(
      "/opt/bin/hermes-acp",
    );
    expect((await findCommand(around(["/home/me/.local/bin/hermes-acp"])))?.path).toBe(
      "/home/me/.local/bin/hermes-acp",
    );
    expect((await findCommand(around(["/storage/server/bin/hermes-acp"])))?.source).toContain("own installation");
    expect(await findCommand(around(["/opt/bin/uvx"]))).toMatchObject({
      path: "/opt/bin/uvx",
      args: ["--from", "/extension/dist/server.whl", "hermes-acp"],
      isFetched: true,
    });
    expect(await findCommand(around(["/opt/bin/uvx"], { package: "" }))).toBeUndefined();
    expect((await findCommand(around(["/home/me/.local/bin/uvx"])))?.source).toBe("uvx");
    expect(await findCommand(around([]))).toBeUndefined();
  });

  it("takes what was installed from here before what was too old", async () => {
    const found = await findCommand(around(["/usr/bin/hermes-acp", "/storage/server/bin/hermes-acp"]));
    expect(found?.path).toBe("/storage/server/bin/hermes-acp");
  });

  it("compares versions by their numbers", () => {
    expect(isNewEnough("0.10.0", "0.9.3")).toBe(true);
    expect(isNewEnough("0.9.2", "0.9.3")).toBe(false);
    expect(isNewEnough("0.9.3-beta", "0.9.3")).toBe(true);
    expect(isNewEnough("unknown", "0.9.3")).toBe(true);
  });
});

class Playground {
  readonly states: State["phase"][] = [];
  readonly log: string[] = [];
  readonly ends: ((why: string) => void)[] = [];
  readonly life = new ServerLife(
    () => this.make(),
    {
      onState: (state) => this.states.push(state.phase),
      onLink: () => Promise.resolve(void this.log.push("link")),
      onLost: (why) => this.log.push(`lost: ${why}`),
    },
    () => 0,
    () => Promise.resolve(),
  );
  fails: Error | undefined;

  private make(): Promise<ServerProcess> {
    this.log.push("make");
    if (this.fails) return Promise.reject(this.fails);
    const promise = new Promise<string>((resolve) => this.ends.push(resolve));
    const resolve = this.ends.at(-1) as (why: string) => void;
    const link = { greeting: { agentInfo: { version: "1.0.0" } } } as unknown as Link;
    return Promise.resolve({
      link,
      command: { path: "x", args: [], source: "" },
      ended: promise,
      stop: () => Promise.resolve(resolve("stopped")),
    });
  }

  async settled(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  }
}

describe("an installation that failed", () => {
  it.each([
    ["Retrying after NewConnectionError('...')\nERROR: No matching distribution found for anyio", /network/],
    ["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", /disk is full/],
    ["SSLError(SSLCertVerificationError(1, 'CERTIFICATE_VERIFY_FAILED'))", /certificate/],
    ["ERROR: Package requires a different Python: 3.10 not in '>=3.11'", /no suitable version/],
    ["WARNING: Requirement 'a.whl' looks like a filename, but the file does not exist", /could not be read/],
    ["something else", /installer reported an error/],
  ])("is explained in a sentence: %s", (output, sentence) => {
    expect(reasonOf(output)).toMatch(sentence);
  });
});

describe("the wheel in the extension", () => {
  it("is read where the build wrote it, and is not there where it did not", async () => {
    const extension = await mkdtemp(join(tmpdir(), "hermes-"));
    expect(await readBundled(extension)).toBeUndefined();
    await mkdir(join(extension, "dist"));
    const told = { file: "hermes_acp_server-1.2.3-py3-none-any.whl", version: "1.2.3", digest: "abc" };
    await writeFile(join(extension, "dist", "server.json"), JSON.stringify(told));
    expect(await readBundled(extension)).toEqual({
      wheel: join(extension, "dist", told.file),
      version: "1.2.3",
      digest: "abc",
    });
  });
});

describe("the server's life", () => {
  it("starts once for all who ask", async () => {
    const { life, log } = new Playground();
    await Promise.all([life.link(), life.link(), life.link()]);
    expect(log).toEqual(["make", "link"]);
    expect(life.state).toMatchObject({ phase: "ready", version: "1.0.0" });
  });

  it("mends a break unasked, and gives up when it breaks again and again", async () => {
    const playground = new Playground();
    await playground.life.link();
    for (let breaks = 0; breaks < 4; breaks += 1) {
      playground.ends.at(-1)?.(`break ${breaks}`);
      await playground.settled();
    }
    expect(playground.log.filter((line) => line === "make")).toHaveLength(4);
    expect(playground.life.state).toMatchObject({ phase: "failed", fix: "log" });
    await playground.life.restart();
    expect(playground.life.state.phase).toBe("ready");
  });

  it("does not take a wanted end for a break", async () => {
    const playground = new Playground();
    await playground.life.link();
    await playground.life.restart();
    await playground.settled();
    expect(playground.log).toEqual(["make", "link", "make", "link"]);
    await playground.life.stop();
    expect(playground.life.state.phase).toBe("off");
  });

  it("says the one thing that would help", async () => {
    const playground = new Playground();
    playground.fails = new ServerError("not here", "install");
    await expect(playground.life.link()).rejects.toThrow("not here");
    expect(playground.life.state).toMatchObject({ phase: "failed", text: "not here", fix: "install" });
    playground.fails = undefined;
    await playground.life.link();
    expect(playground.life.state.phase).toBe("ready");
  });
});
