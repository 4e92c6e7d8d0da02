/** The places that show the panel: the side bar view and any number of editor tabs, all sharing one state. */

import * as vscode from "vscode";

import { PRODUCT, questionsWaiting } from "../messages/editor";
import { Audience } from "./audience";
import type { ToHost, ToView } from "./protocol";
import { htmlOf, type Place } from "./page";

export const VIEW = "hermes.panel";

type Receive = (message: ToHost, answer: (message: ToView) => void) => void;

export class Surfaces implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer {
  readonly audience = new Audience();
  private view: vscode.WebviewView | undefined;
  /** The page of the panel with the keyboard focus, if any. */
  private focused: vscode.Webview | undefined;
  private readonly tabs = new Set<vscode.WebviewPanel>();
  /** Shows something else in a panel that cannot work yet, and settles once it can. */
  prepare: (webview: vscode.Webview, onOver: (over: () => void) => void) => Promise<void> = () => Promise.resolve();

  constructor(
    private readonly extension: vscode.Uri,
    private readonly receive: Receive,
  ) {}

  /** Whether the panel has the keyboard focus. */
  get hasFocus(): boolean {
    return this.focused !== undefined;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    void this.attachPrepared(view.webview, "view", (over) => view.onDidDispose(over));
  }

  /** Show the panel in a new editor tab. */
  openTab(): void {
    const panel = vscode.window.createWebviewPanel(VIEW, PRODUCT, vscode.ViewColumn.Active, {
      retainContextWhenHidden: true,
    });
    this.adoptTab(panel);
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.adoptTab(panel);
    return Promise.resolve();
  }

  private adoptTab(panel: vscode.WebviewPanel): void {
    const icon = (name: string) => vscode.Uri.joinPath(this.extension, "media", name);
    panel.iconPath = { light: icon("hermes.svg"), dark: icon("hermes-dark.svg") };
    this.tabs.add(panel);
    panel.onDidDispose(() => this.tabs.delete(panel));
    void this.attachPrepared(panel.webview, "tab", (over) => panel.onDidDispose(over));
  }

  private async attachPrepared(
    webview: vscode.Webview,
    place: Place,
    onOver: (over: () => void) => void,
  ): Promise<void> {
    let isOver = false;
    onOver(() => (isOver = true));
    await this.prepare(webview, onOver);
    if (!isOver) this.attach(webview, place, onOver);
  }

  private attach(webview: vscode.Webview, place: Place, onOver: (over: () => void) => void): void {
    const read = (message: ToView) => void webview.postMessage(message);
    onOver(() => {
      this.audience.dismiss(read);
      if (this.view?.webview === webview) this.view = undefined;
      this.noteFocus(webview, false);
    });
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.extension, "dist")] };
    webview.onDidReceiveMessage((message: ToHost) => {
      if (message.type === "ready") this.audience.admit(read);
      if (message.type === "focus") return this.noteFocus(webview, message.isFocused);
      this.receive(message, read);
    });
    webview.html = htmlOf(webview, this.extension, "webview", place);
  }

  private noteFocus(webview: vscode.Webview, isFocused: boolean): void {
    if (isFocused) this.focused = webview;
    else if (this.focused === webview) this.focused = undefined;
  }

  /** Whether the panel is visible anywhere. */
  get isShown(): boolean {
    return (this.view?.visible ?? false) || [...this.tabs].some((panel) => panel.visible);
  }

  /** Bring the panel to the front, opening it in the side bar if necessary. */
  async reveal(): Promise<void> {
    await vscode.commands.executeCommand(`${VIEW}.focus`);
  }

  /** Show how many questions wait for the user. */
  badge(count: number): void {
    if (!this.view) return;
    this.view.badge = count > 0 ? { value: count, tooltip: questionsWaiting(count) } : undefined;
  }
}
