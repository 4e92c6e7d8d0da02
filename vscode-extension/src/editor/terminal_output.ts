/** The output of commands in the user's terminals, from shell integration. */

import * as vscode from "vscode";

const MAX_OUTPUT = 30_000;
/** Escape sequences for colour, cursor and title, and overwritten lines. */
const SEQUENCES =
  /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])|[\u0000-\u0008\u000b-\u001a]/g;

interface Execution {
  readonly command: string;
  output: string;
}

export class TerminalOutput implements vscode.Disposable {
  private readonly last = new WeakMap<vscode.Terminal, Execution>();
  private readonly subscription: vscode.Disposable;

  constructor() {
    this.subscription = vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => {
      const kept: Execution = { command: execution.commandLine.value, output: "" };
      this.last.set(terminal, kept);
      void this.follow(kept, execution).catch(() => undefined);
    });
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private async follow(kept: Execution, execution: vscode.TerminalShellExecution): Promise<void> {
    for await (const data of execution.read()) kept.output = (kept.output + data).slice(-2 * MAX_OUTPUT);
  }

  /** Return the name of the active terminal, if it has output to read. */
  get name(): string | undefined {
    const terminal = vscode.window.activeTerminal;
    return terminal && this.last.has(terminal) ? terminal.name : undefined;
  }

  /** Return the last command of the active terminal and the end of its output. */
  async read(): Promise<string | undefined> {
    const terminal = vscode.window.activeTerminal;
    const kept = terminal && this.last.get(terminal);
    if (!kept) return undefined;
    const output = plainText(kept.output).trim() || (await copiedOutput());
    return `$ ${kept.command}\n${output.slice(-MAX_OUTPUT)}`;
  }
}

/**
 * If a command ends at once, VS Code may report that it ran, but not its output, which can then only be copied. A browser
 * asks for permission before a page reads its clipboard, so nothing is copied there.
 */
async function copiedOutput(): Promise<string> {
  if (vscode.env.uiKind !== vscode.UIKind.Desktop) return "";
  const { clipboard } = vscode.env;
  const before = await clipboard.readText();
  try {
    await clipboard.writeText("");
    await vscode.commands.executeCommand("workbench.action.terminal.copyLastCommandOutput");
    return await clipboard.readText();
  } finally {
    await clipboard.writeText(before);
  }
}

function plainText(output: string): string {
  return output.replace(/\r\n/g, "\n").replace(SEQUENCES, "");
}
