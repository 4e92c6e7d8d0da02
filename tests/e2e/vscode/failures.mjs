// What people see when something breaks or is not allowed, in several scenarios.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, until } from "./scene.mjs";

export async function tellsWhatItTriesAgain({ window, shot }) {
  const { panel } = window;
  const notice = (words) => panel.getByRole("note").filter({ hasText: words });
  await window.run("Hermes: New Session");
  await panel.getByRole("tab", { name: "New session" }).waitFor();
  await window.prompt("stumble once");
  await notice(/the lights went out/).waitFor();
  await panel.getByText("Up again.").waitFor();
  await window.prompt("lose the model");
  await notice(/scripted-small/).waitFor();
  await panel.getByText("The other one answers.").waitFor();
  await shot("dark-notices");
  await window.prompt("break off once");
  await panel.getByText("The whole answer at last.").waitFor();
  expect(await panel.getByText("Half of").count(), 0, "half answers that are left");
}

export async function tellsWhyATurnFailed({ window, shot }) {
  const { panel } = window;
  await window.prompt("ask for too much");
  const end = panel.locator(".end.failed").last();
  await end.getByText("this is more than the model takes").waitFor();
  const words = await end.innerText();
  if (/-32\d{3}|internal error/i.test(words)) throw new Error(`not an explanation for users: ${words}`);
  await end.getByRole("button", { name: "Retry" }).waitFor();
  await shot("light-failed");
}

export async function stopsATurn({ window }) {
  await window.prompt("talk until stopped");
  await window.panel.getByText("Once", { exact: false }).last().waitFor();
  await window.panel.getByLabel("Messages while working", { exact: true }).waitFor();
  await window.panel.getByRole("button", { name: "Stop" }).click();
  await window.conversation.getByText("Stopped.").waitFor();
}

export async function survivesTheServersDeath(scene) {
  const { window, shot } = scene;
  await window.prompt("talk until killed");
  await window.panel.getByText("I begin").waitFor();
  const agent = await scene.agent();
  process.kill(agent, "SIGKILL");
  await window.conversation.getByText("The turn was interrupted.").waitFor();
  await until(async () => (await scene.agents()).some((pid) => pid !== agent), "the server is started again");
  await window.panel.getByText("I begin").waitFor();
  await window.panel.getByRole("button", { name: "Continue", exact: true }).click();
  await window.panel.getByText("I went on and am done.").waitFor();
  await window.panel.getByText("Continue where you left off.").waitFor();
  await shot("light-after-kill");
}

/** A resident process has the session; it is killed twice, and restarted in time or not at all. */
export async function survivesTheDeathOfTheResidentProcess(scene) {
  const { window, shot } = scene;
  const { panel } = window;
  const resident = await scene.startResident();
  await window.load();
  await window.openPanel();
  await window.run("Hermes: New Session");
  await panel.getByRole("tab", { name: /^New session/, selected: true }).waitFor();
  await window.prompt("talk until the resident process is killed");
  await panel.getByText("The first begins").waitFor();
  resident.kill("SIGKILL");
  const next = await scene.startResident();
  await panel.getByText("The next one ends it.").waitFor();
  await shot("light-after-resident");
  await window.prompt("talk until the last is killed");
  await panel.getByText("The second begins").waitFor();
  next.kill("SIGKILL");
  // Both turns were interrupted; the row of the first already exists.
  await window.conversation.getByText("The turn was interrupted.").nth(1).waitFor();
  await panel.getByRole("button", { name: "Continue", exact: true }).click();
  await panel.getByText("I went on and am done.").waitFor();
}

export async function survivesAReload(scene) {
  const { window } = scene;
  const { panel } = window;
  await window.prompt("talk until reloaded");
  await panel.getByText("Half of it").waitFor();
  // The window stores a growing answer with a short delay; the server restores the whole answer.
  const agent = await scene.agent();
  await window.area.fill("half a thought");
  await until(async () => (await keptDrafts(scene)).includes("half a thought"), "what is being written is kept");
  await window.page.reload();
  await window.settle();
  await panel.getByText("Half of it").waitFor();
  await leavesTheFocus(window);
  expect(await window.area.inputValue(), "half a thought", "what was being written");
  await window.area.fill("");
  await window.openPanel();
  await until(async () => (await scene.agents()).some((pid) => pid !== agent), "this window has a server of its own");
  // Only the last turn can continue; in a long conversation, its row may not be the last one in the document.
  const goOn = panel.getByRole("button", { name: "Continue", exact: true });
  const interrupted = panel.locator(".row").filter({ has: goOn });
  await interrupted.getByText("The turn was interrupted.").waitFor();
  await panel.getByText("Half of it").waitFor();
  await interrupted.getByRole("button", { name: "Continue", exact: true }).click();
  const half = panel.locator(".row").filter({ hasText: "Half of it" });
  await half.locator("xpath=following-sibling::*").getByText("I went on and am done.").waitFor();
}

/** Return the drafts stored outside the page: messages in transit when a page is left are lost. */
async function keptDrafts({ editor }) {
  const storage = join(editor.folder, "data", "User", "workspaceStorage");
  const files = (await readdir(storage, { recursive: true })).filter((name) => name.endsWith("drafts.json"));
  return (await Promise.all(files.map((name) => readFile(join(storage, name), "utf8")))).join();
}

/** The panel reappears by itself; once it is drawn, it must not have taken the focus from anything. */
async function leavesTheFocus({ area, caret }) {
  await area.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  expect(await caret.count(), 0, "prompts that took the focus");
}

export async function onlyLooksWhereNothingIsTrusted(scene) {
  const { window, shot, editor } = scene;
  const path = join(editor.folder, "data", "User", "settings.json");
  const settings = JSON.parse(await readFile(path, "utf8"));
  await writeFile(path, JSON.stringify({ ...settings, "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" }));
  await window.load();
  await window.openPanel();
  await window.panel.getByText("You have not trusted this folder").waitFor();
  await window.run("Hermes: New Session");
  await window.panel.getByRole("tab", { name: "New session" }).waitFor();
  await scene.openGate("looked");
  await window.prompt("look around");
  await window.panel.getByText("I may only look here.").waitFor();
  expect(await window.panel.getByLabel("Mode", { exact: true }).inputValue(), "plan", "the mode");
  expect(await window.panel.getByLabel("Mode", { exact: true }).isDisabled(), true, "whether the mode is fixed");
  await shot("light-untrusted");
}
