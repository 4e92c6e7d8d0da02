/** The editor's diagnostics for files. */

import { sep } from "node:path";

import * as vscode from "vscode";

import type { Diagnosis } from "../acp/link";

const SEVERITIES = ["error", "warning", "information", "hint"] as const;

/** Return the errors and warnings of a file, or of all files below a folder. */
export function diagnosesOf(path: string): readonly Diagnosis[] {
  const isMeant = (uri: vscode.Uri) =>
    uri.fsPath === path || uri.fsPath.startsWith(path.endsWith(sep) ? path : path + sep);
  return vscode.languages
    .getDiagnostics()
    .filter(([uri]) => uri.scheme === "file" && isMeant(uri))
    .flatMap(([uri, all]) => all.map((each) => diagnosisOf(uri, each)));
}

function diagnosisOf(uri: vscode.Uri, { range, severity, message, source }: vscode.Diagnostic): Diagnosis {
  return {
    path: uri.fsPath,
    line: range.start.line + 1,
    column: range.start.character + 1,
    severity: SEVERITIES[severity],
    message,
    ...(source ? { source } : {}),
  };
}
