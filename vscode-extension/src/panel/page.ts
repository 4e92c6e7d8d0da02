/** The panel's HTML page: one script and one style sheet; nothing else may run or load. */

import { randomBytes } from "node:crypto";

import * as vscode from "vscode";

import { PRODUCT } from "../messages/editor";

/** The place of the page, which determines its background. */
export type Place = "view" | "tab";

/** Return the page that loads a bundle of this name. */
export function htmlOf(
  webview: vscode.Webview,
  extension: vscode.Uri,
  bundle: "webview" | "pages",
  place: Place,
): string {
  const nonce = randomBytes(16).toString("base64");
  const uri = (...path: string[]) => webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", ...path)).toString();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource} 'nonce-${nonce}'`,
    `font-src ${webview.cspSource}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en" class="in-${place}">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${uri(`${bundle}.css`)}">
<title>${PRODUCT}</title>
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${uri(`${bundle}.js`)}"></script>
</body>
</html>`;
}
