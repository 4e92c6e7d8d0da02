/**
 * The server's state in the status bar: one word, and one click to the one thing that helps.
 *
 * Knows: states and fixes. Does not know: how the server is started.
 */

import * as vscode from "vscode";

import type { Trouble } from "../panel/protocol";
import type { Fix, State } from "./life";

const FIXES: Readonly<Record<Fix, { command: string; title: string }>> = {
  install: { command: "hermes.install", title: "Install the server" },
  update: { command: "hermes.install", title: "Update the server" },
  start: { command: "hermes.restart", title: "Start again" },
  log: { command: "hermes.showLog", title: "Show the log" },
  settings: { command: "hermes.openSettings", title: "Open the settings" },
};

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("hermes.status", vscode.StatusBarAlignment.Right, 90);

  constructor() {
    this.item.name = "Hermes";
  }

  show(state: State, questions: number, isWorking: boolean): void {
    const fix = state.phase === "failed" ? FIXES[state.fix] : undefined;
    this.item.text = textOf(state, questions, isWorking);
    this.item.command = fix?.command ?? "hermes.open";
    this.item.tooltip = state.phase === "failed" ? `${state.text}\n\n${fix?.title}` : tooltipOf(state, questions);
    this.item.backgroundColor =
      state.phase === "failed" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.accessibilityInformation = {
      label: `Hermes: ${questions > 0 ? "waits for your answer" : state.phase}`,
      role: "button",
    };
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}

function textOf(state: State, questions: number, isWorking: boolean): string {
  if (state.phase === "failed") return "$(error) Hermes";
  if (questions > 0) return `$(bell-dot) Hermes: ${questions}`;
  if (state.phase === "starting" || isWorking) return "$(loading~spin) Hermes";
  return "$(sparkle) Hermes";
}

function tooltipOf(state: State, questions: number): string {
  if (questions > 0) return "Hermes waits for your answer";
  return state.phase === "ready" ? `Hermes ${state.version}` : "Open Hermes";
}

/** Give a failed start as the panel shows it. */
export function troubleOf(state: State): Trouble | undefined {
  return state.phase === "failed" ? { severity: "error", text: state.text, fix: FIXES[state.fix] } : undefined;
}
