import { expect, it } from "vitest";

import type { Link } from "../../src/acp/link";
import { Overlays } from "../../src/web/dialogs";
import { FileOpener } from "../../src/web/file_opener";
import { SettingsPage } from "../../src/work/settings";

const STEPS = { name: "budget.max_steps", title: "Steps", about: "", kind: "integer", fallback: "100", choices: [] };

function linkOf(ability: string, request: (method: string, params: unknown) => Promise<unknown>): Link {
  return {
    agent: { request },
    greeting: { agentCapabilities: { _meta: { hermes: { [ability]: true } } } },
  } as unknown as Link;
}

it("shows what a setting became, and why another did not change", async () => {
  let value = "100";
  const page = new SettingsPage();
  page.adopt(
    linkOf("settings", (method, params) => {
      if (method === "_hermes/settings/list") return Promise.resolve({ settings: [{ ...STEPS, value }] });
      const wanted = (params as { value: string }).value;
      if (wanted === "many") return Promise.reject(new Error("must be a whole number"));
      value = wanted;
      return Promise.resolve({});
    }),
  );
  page.follow();
  await page.act({ type: "change", name: STEPS.name, value: "7" });
  expect(page.shown.value).toMatchObject({ settings: [{ value: "7" }], problem: "" });
  await page.act({ type: "change", name: STEPS.name, value: "many" });
  expect(page.shown.value).toMatchObject({ settings: [{ value: "7" }] });
  expect(page.shown.value.problem).toContain("must be a whole number");
});

it("opens a file of the shown session, and says why one is not shown", async () => {
  const overlays = new Overlays();
  const files = new FileOpener(overlays, () => "ses_1");
  expect(await files.open("/p/a.py")).toBe(false);
  const asked: unknown[] = [];
  files.adopt(
    linkOf("fileReading", (_, params) => {
      asked.push(params);
      const { path } = params as { path: string };
      if (path.endsWith(".env")) return Promise.reject(new Error(".env is not shown here"));
      return Promise.resolve({ path, name: "a b.py", text: "x\n", sizeBytes: 2, isCut: false });
    }),
  );
  expect(await files.open("file:///p/a%20b.py", 3)).toBe(true);
  expect(asked).toEqual([{ sessionId: "ses_1", path: "/p/a b.py" }]);
  expect(overlays.open.value).toMatchObject({ type: "file", file: { name: "a b.py", line: 3 } });
  overlays.close();
  expect(await files.open("/p/.env")).toBe(true);
  expect(overlays.open.value).toBeUndefined();
  expect(overlays.toast.value).toContain(".env is not shown here");
});
