// Attachments to a prompt, and a commit message written into the Source Control input box.

import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, until } from "./scene.mjs";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const run = promisify(execFile);

const chip = (panel, label) => panel.getByRole("button", { name: `Include ${label}`, exact: true });

export async function bringsAlongWhatIsOpen(scene) {
  const { window, shot } = scene;
  const { page, panel, area } = window;
  await window.rest();
  await area.fill("");
  await window.openFile("list.txt");
  await chip(panel, "list.txt").waitFor();
  await page.keyboard.press("Control+a");
  await chip(panel, "list.txt:1-5").waitFor();
  await shot("light-context");
  // The open file is offered first after an @.
  await area.fill("");
  await area.pressSequentially("@");
  await panel.getByRole("option").first().waitFor();
  const offered = await panel.getByRole("option").allInnerTexts();
  if (!offered.slice(0, 2).some((each) => each.startsWith("list.txt"))) throw new Error(`offered first: ${offered.slice(0, 3)}`);
  await area.fill("");
  await chip(panel, "list.txt:1-5").click();
  await until(async () => (await chip(panel, "list.txt:1-5").getAttribute("aria-pressed")) === "false", "the selection is left out");
  await chip(panel, "list.txt").click();
  await until(async () => (await chip(panel, "list.txt").getAttribute("aria-pressed")) === "false", "the file is left out");
  await window.openFile("ghost.py");
  await until(async () => (await chip(panel, "ghost.py").getAttribute("aria-pressed")) === "false", "another file is left out too");
  await window.prompt("what am I looking at");
  await until(async () => (await scene.heardByModel()).includes("what am I looking at"), "the model is asked");
  const heardBefore = (await scene.heardByModel()).split("ghost.py").length;
  await window.rest();
  await chip(panel, "ghost.py").click();
  await until(async () => (await chip(panel, "ghost.py").getAttribute("aria-pressed")) === "true", "the file goes along again");
  await window.prompt("and now");
  await window.rest();
  await until(async () => (await scene.heardByModel()).split("ghost.py").length > heardBefore, "the model is told about the file");
}

export async function attachesWhatIsDropped({ window, project }) {
  const { panel, area } = window;
  await window.rest();
  await area.fill("");
  const frame = await (await panel.locator("#root").elementHandle()).ownerFrame();
  const drop = async (make, given) => {
    const transfer = await frame.evaluateHandle(make, given);
    await panel.locator(".composer").dispatchEvent("drop", { dataTransfer: transfer });
  };
  await drop((pixel) => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(pixel), (each) => each.charCodeAt(0));
    transfer.items.add(new File(["# Dropped\n"], "dropped.md", { type: "text/markdown" }));
    transfer.items.add(new File([bytes], "dot.png", { type: "image/png" }));
    return transfer;
  }, PIXEL);
  await panel.getByRole("button", { name: "Remove dropped.md" }).waitFor();
  await panel.getByRole("button", { name: "Remove the image" }).waitFor();
  await drop((folder) => {
    const transfer = new DataTransfer();
    transfer.setData("text/uri-list", `file://${folder}/list.txt\r\nfile://${folder}/notes.txt`);
    return transfer;
  }, project);
  for (const name of ["list.txt", "notes.txt", "dropped.md"]) {
    await panel.getByRole("button", { name: `Remove ${name}` }).click();
    await panel.getByRole("button", { name: `Remove ${name}` }).waitFor({ state: "detached" });
  }
  await panel.getByRole("button", { name: "Remove the image" }).click();
  await panel.getByRole("button", { name: "Remove the image" }).waitFor({ state: "detached" });
}

export async function attachesWhatIsChosen({ window, project, shot }) {
  const { page, panel } = window;
  const picture = join(project, "dot.png");
  await writeFile(picture, Buffer.from(PIXEL, "base64"));
  const path = page.locator(".quick-input-widget input").first();
  const ask = async () => {
    await panel.getByRole("button", { name: "Attach files or pictures" }).click();
    await path.waitFor();
    await until(async () => (await path.inputValue()).startsWith(project), "the dialog begins with the folder");
  };
  const choose = async (name) => {
    await ask();
    await path.fill(join(project, name));
    await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: name }).first().waitFor();
    await shot("light-attach");
    await path.press("Enter");
  };
  await choose("notes.txt");
  await panel.getByRole("button", { name: "Remove notes.txt" }).click();
  await choose("dot.png");
  await panel.getByRole("button", { name: "Remove the image" }).click();
  await ask();
  await path.press("Escape");
  await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  expect(await panel.getByRole("button", { name: /^Remove / }).count(), 0, "what is attached though nothing was chosen");
  await rm(picture);
}

export async function mentionsTerminalsPagesAndSessions(scene) {
  const { window } = scene;
  const { page, panel, area } = window;
  await window.rest();
  await window.run("Terminal: Create New Terminal");
  await page.locator(".terminal-wrapper.active .xterm-helper-textarea").waitFor({ state: "attached" });
  await page.locator(".xterm.focus, .terminal.focus").first().waitFor();
  await page.locator(".terminal-command-decoration").first().waitFor({ state: "attached" }).catch(() => undefined);
  await page.keyboard.type("sleep 0.5; echo from-the-$((40+2))-terminal\n");
  await page.locator(".terminal-wrapper.active .codicon-terminal-decoration-success").first().waitFor();
  const take = async (typed, option) => {
    await area.fill("");
    await until(async () => {
      await area.fill("");
      await area.pressSequentially(typed);
      // The list is drawn again while its entries arrive, so an entry may be gone by the time of the click.
      return panel.getByRole("option", { name: option }).first().click({ timeout: 5000 }).then(() => true, () => false);
    }, `${typed} is offered and taken`);
  };
  await take("@term", /Terminal/);
  await area.press("End");
  await area.pressSequentially("what does it say");
  await area.press("Enter");
  await until(async () => (await scene.heardByModel()).includes("from-the-42-terminal"), "the model reads the terminal");
  await window.rest();
  await take("@https://example.org/page", /example\.org/);
  await panel.getByRole("button", { name: "Remove example.org/page" }).click();
  await take("@session", /past session/);
  await area.press("End");
  await area.pressSequentially("what was said there");
  await area.press("Enter");
  await until(async () => (await scene.heardByModel()).includes("hermes://session/"), "the model reads the past session");
  await window.rest();
  await window.run("Terminal: Kill the Active Terminal Instance");
}

export async function writesACommitMessage(scene) {
  const { window, project } = scene;
  const { page } = window;
  await window.rest();
  await run("git", ["init", "-q", project]);
  const secret = join(project, "unwanted.txt");
  await writeFile(secret, "never to be committed\n");
  await run("git", ["-C", project, "add", "unwanted.txt"]);
  const show = (view) => page.locator(`.activitybar .action-label[aria-label^="${view}"]`).first().click();
  await show("Source Control");
  await page.locator(".scm-editor").first().waitFor();
  const box = page.locator(".scm-editor .view-lines");
  await window.run("Hermes: Write a Commit Message");
  await until(async () => (await scene.heardByModel()).includes("never to be committed"), "the model is asked");
  // A notification that is not closed moves to the notification list.
  await window.run("Notifications: Show Notifications");
  const progress = page.locator(".notifications-center .notification-list-item").filter({ hasText: "Hermes is writing a commit message" });
  await progress.getByRole("button", { name: "Cancel", exact: true }).click();
  await progress.waitFor({ state: "detached" });
  await scene.openGate("looked");
  await run("git", ["-C", project, "rm", "-q", "--cached", "unwanted.txt"]);
  await rm(secret);
  await run("git", ["-C", project, "add", "shop.py"]);
  expect((await box.first().innerText()).trim(), "", "a message that was cancelled");
  await window.run("Hermes: Write a Commit Message");
  // The model is told that it may only read; its scripted answer says so.
  // In a narrow box, the sentence takes two lines.
  await box.filter({ hasText: /I\smay\sonly\slook\s*here\./ }).first().waitFor();
  if (!(await scene.heardByModel()).includes("Write a commit message for the staged changes")) throw new Error("the model was not asked");
  const { stdout } = await run("git", ["-C", project, "log", "--oneline", "--all"]).catch(() => ({ stdout: "" }));
  expect(stdout, "", "commits");
  await show("Explorer");
}
