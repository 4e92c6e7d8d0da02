/** The server's state in the status bar: one word, and a click that applies the fix. */

import * as vscode from "vscode";

import * as messages from "../messages/editor";
import { waitingCount } from "../messages/work";
import { FIXES } from "../panel/banner";
import type { State } from "./state";

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("hermes.status", vscode.StatusBarAlignment.Right, 90);

  constructor() {
    this.item.name = messages.PRODUCT;
  }

  show(state: State, questions: number, isWorking: boolean): void {
    const fix = state.phase === "failed" ? FIXES[state.fix] : undefined;
    this.item.text = textOf(state, questions, isWorking);
    this.item.command = fix?.command ?? (questions > 0 ? "hermes.showQuestion" : "hermes.open");
    this.item.tooltip =
      state.phase === "failed" ? messages.tooltipFailed(state.text, fix?.title ?? "") : tooltipOf(state, questions);
    this.item.backgroundColor =
      state.phase === "failed" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.accessibilityInformation = {
      label: messages.statusLabel(messages.STATUS_LABELS[questions > 0 ? "asking" : state.phase]),
      role: "button",
    };
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}

function textOf(state: State, questions: number, isWorking: boolean): string {
  if (state.phase === "failed") return messages.STATUS_FAILED;
  if (questions > 0) return messages.statusAsking(questions);
  if (state.phase === "starting" || isWorking) return messages.STATUS_BUSY;
  return messages.STATUS_IDLE;
}

function tooltipOf(state: State, questions: number): string {
  if (questions > 0) return messages.WAITING_FOR_ANSWER;
  return state.phase === "ready" ? messages.tooltipReady(state.version) : messages.OPEN_PRODUCT;
}

/** The number of waiting runs and sessions that this window does not show. A click lists them. */
export class WaitingItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("hermes.waiting", vscode.StatusBarAlignment.Right, 89);

  constructor() {
    this.item.name = messages.WAITING_NAME;
    this.item.command = "hermes.runs";
  }

  show(waiting: number): void {
    if (waiting === 0) return this.item.hide();
    const label = waitingCount(waiting);
    this.item.text = messages.statusWaiting(waiting);
    this.item.tooltip = label;
    this.item.accessibilityInformation = { label: messages.statusLabel(label), role: "button" };
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}
