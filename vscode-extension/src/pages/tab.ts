/** The places for pages: the panel until a model is set up, and an editor tab on request. */

import * as vscode from "vscode";

import { PAGES_TITLE } from "../messages/pages";
import { htmlOf } from "../panel/page";
import { Pages, type PagesParts } from "./pages";
import type { FromPages, PageName } from "./protocol";

const TAB = "hermes.pages";

export class PageTab implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private pages: Pages | undefined;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly parts: PagesParts,
  ) {}

  /** Show a page in the single tab. */
  open(page: PageName): void {
    if (this.panel) {
      this.panel.reveal();
      this.pages?.go(page);
      return;
    }
    const panel = vscode.window.createWebviewPanel(TAB, PAGES_TITLE, vscode.ViewColumn.Active, {});
    this.panel = panel;
    panel.iconPath = {
      light: vscode.Uri.joinPath(this.extension, "media", "hermes.svg"),
      dark: vscode.Uri.joinPath(this.extension, "media", "hermes-dark.svg"),
    };
    const { pages, end } = this.attach(panel.webview, page, false);
    this.pages = pages;
    panel.onDidDispose(() => {
      end();
      this.panel = undefined;
      this.pages = undefined;
    });
  }

  /** Show pages in a webview until `end` is called. */
  attach(webview: vscode.Webview, page: PageName, isPanel: boolean): { readonly pages: Pages; end(): void } {
    const pages = new Pages(this.parts, (message) => void webview.postMessage(message), isPanel, page);
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.extension, "dist")] };
    const receiving = webview.onDidReceiveMessage((message: FromPages) => pages.receive(message));
    webview.html = htmlOf(webview, this.extension, "pages", isPanel ? "view" : "tab");
    const end = () => {
      receiving.dispose();
      pages.dispose();
    };
    return { pages, end };
  }

  dispose(): void {
    this.panel?.dispose();
  }
}
