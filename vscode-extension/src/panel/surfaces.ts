/**
 * The places the panel is shown at: the view in the side bar and any number of editor tabs, all on one state.
 *
 * Knows: webviews, which of them are there. Does not know: what is said to them, and what they say.
 */

import * as vscode from "vscode";

import { Outbox } from "../state/outbox";
import type { SessionEvent } from "../state/events";
import type { ToHost, ToView } from "./messages";
import { pageOf } from "./page";

export const VIEW = "hermes.panel";

type Hear = (message: ToHost, answer: (message: ToView) => void) => void;

interface Surface {
  readonly webview: vscode.Webview;
  isReady: boolean;
}

export class Surfaces implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer {
  private readonly surfaces = new Set<Surface>();
  private readonly outbox = new Outbox((sessionId, events) => this.post({ type: "events", sessionId, events }));
  private view: vscode.WebviewView | undefined;
  private unsent: ToView[] = [];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly hear: Hear,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.attach(view.webview, (over) => view.onDidDispose(over));
  }

  /** Show the panel as an editor of its own. */
  openTab(): void {
    const panel = vscode.window.createWebviewPanel(VIEW, "Hermes", vscode.ViewColumn.Active, {
      retainContextWhenHidden: true,
    });
    this.adoptTab(panel);
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.adoptTab(panel);
    return Promise.resolve();
  }

  private adoptTab(panel: vscode.WebviewPanel): void {
    panel.iconPath = vscode.Uri.joinPath(this.extension, "media", "hermes.svg");
    this.attach(panel.webview, (over) => panel.onDidDispose(over));
  }

  private attach(webview: vscode.Webview, onOver: (over: () => void) => void): void {
    const surface: Surface = { webview, isReady: false };
    this.surfaces.add(surface);
    onOver(() => {
      this.surfaces.delete(surface);
      if (this.view?.webview === webview) this.view = undefined;
    });
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.extension, "dist")] };
    webview.onDidReceiveMessage((message: ToHost) => {
      if (message.type === "ready") this.welcome(surface);
      this.hear(message, (answer) => void webview.postMessage(answer));
    });
    webview.html = pageOf(webview, this.extension);
  }

  private welcome(surface: Surface): void {
    surface.isReady = true;
    const unsent = this.unsent;
    this.unsent = [];
    setTimeout(() => unsent.forEach((message) => void surface.webview.postMessage(message)), 0);
  }

  /** Bring the panel to the front; where it is shown nowhere, in the side bar. */
  async reveal(): Promise<void> {
    await vscode.commands.executeCommand(`${VIEW}.focus`);
  }

  /** Say something to every panel, behind the events that are still waiting. */
  post(message: ToView): void {
    if (message.type !== "events") this.outbox.flush();
    for (const surface of this.surfaces) if (surface.isReady) void surface.webview.postMessage(message);
  }

  /** Say something that must be heard, be it by the first panel that opens. */
  postSurely(message: ToView): void {
    if ([...this.surfaces].some((surface) => surface.isReady)) this.post(message);
    else this.unsent.push(message);
  }

  postEvents(sessionId: string, events: readonly SessionEvent[]): void {
    if (this.surfaces.size > 0) this.outbox.put(sessionId, events);
  }

  /** Show how many questions wait for the user. */
  badge(count: number): void {
    if (!this.view) return;
    this.view.badge = count > 0 ? { value: count, tooltip: `${count} waiting for your answer` } : undefined;
  }
}
