/**
 * One connection to one agent process: the SDK's client side, wired to those who answer the agent's questions.
 *
 * Knows: which methods an agent may call, what this editor announces. Does not know: who answers, sessions, processes.
 */

import * as acp from "@agentclientprotocol/sdk/unstable";

import { PATH_NEEDED } from "../messages/agent";
import { CLIENT_TITLE } from "../messages/editor";
import { otherProtocol } from "../messages/server";
import { NotThere } from "./methods";
import type { BoardChangedParams, EditsDraftParams, EditsJudgedParams } from "./own";
import { redact } from "./redact";

/** Whoever answers what an agent asks of an editor. */
export interface Answerers {
  onUpdate(notification: acp.SessionNotification): void;
  askPermission(request: acp.RequestPermissionRequest, signal: AbortSignal): Promise<acp.RequestPermissionResponse>;
  inquire(request: acp.CreateElicitationRequest, signal: AbortSignal): Promise<acp.CreateElicitationResponse>;
  onInquiryDone(id: string): void;
  /** Take what an edit will be, while it is still being written. */
  onDraft(draft: EditsDraftParams): void;
  /** What is open in a file is not what it was, whoever judged. */
  onJudged(judged: EditsJudgedParams): void;
  onBoardChanged(change: BoardChangedParams): void;
}

/** Whoever answers what an agent asks of an editor that has files, terminals and diagnostics. */
export interface EditorAnswerers extends Answerers {
  readFile(request: acp.ReadTextFileRequest): Promise<acp.ReadTextFileResponse>;
  writeFile(request: acp.WriteTextFileRequest): Promise<void>;
  /** Return the editor's errors and warnings of a file, or of all files below a folder. */
  diagnose(path: string): readonly Diagnosis[];
  readonly terminals: {
    create(request: acp.CreateTerminalRequest): acp.CreateTerminalResponse;
    output(request: acp.TerminalOutputRequest): acp.TerminalOutputResponse;
    wait(request: acp.WaitForTerminalExitRequest): Promise<acp.WaitForTerminalExitResponse>;
    kill(request: acp.KillTerminalRequest): void;
    release(request: acp.ReleaseTerminalRequest): void;
  };
}

/** One error or warning; lines and columns count from 1. */
export interface Diagnosis {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning" | "information" | "hint";
  readonly message: string;
  readonly source?: string;
}

const INTERNAL_ERROR = -32603;

/** Where the user trusts nothing, nothing is written or run for the agent, and it is told so. */
export interface WorkspaceTrust {
  readonly isTrusted: boolean;
}

/** What a client says of itself when it greets an agent. */
export type Introduction = Omit<acp.InitializeRequest, "protocolVersion">;

export interface Link {
  readonly agent: acp.ClientContext;
  readonly greeting: acp.InitializeResponse;
  readonly isClosed: boolean;
  close(): void;
}

export type Trace = (direction: "→" | "←", frame: unknown) => void;

/** Greet the agent at the other end of a process's streams as VS Code. Rejects as `greet` does. */
export async function connect(
  input: WritableStream<Uint8Array>,
  output: ReadableStream<Uint8Array>,
  answerers: EditorAnswerers,
  workspace: WorkspaceTrust,
  version: string,
  trace?: Trace,
): Promise<Link> {
  const stream = acp.ndJsonStream(input, output);
  const client = withEditor(clientOf("hermes-vscode", answerers), answerers);
  return greet(client.connect(trace ? traced(stream, trace) : stream), {
    clientInfo: { name: "hermes-vscode", title: CLIENT_TITLE, version },
    clientCapabilities: announced(workspace),
    _meta: { hermes: { workspaceTrusted: workspace.isTrusted } },
  });
}

/** Greet the agent at the other end of a stream of messages, as a client without files and terminals of its own. */
export function connectStream(stream: acp.Stream, answerers: Answerers, introduction: Introduction): Promise<Link> {
  return greet(clientOf(introduction.clientInfo?.name ?? "", answerers).connect(stream), introduction);
}

/** Greet an agent. Rejects when it does not answer, or not in version 1. */
async function greet(connection: acp.ClientConnection, introduction: Introduction): Promise<Link> {
  const greeting = await connection.agent.request(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    ...introduction,
  });
  if (greeting.protocolVersion !== acp.PROTOCOL_VERSION) {
    connection.close();
    throw new Error(otherProtocol(greeting.protocolVersion, acp.PROTOCOL_VERSION));
  }
  return {
    agent: connection.agent,
    greeting,
    get isClosed() {
      return connection.signal.aborted;
    },
    close: () => connection.close(),
  };
}

function announced({ isTrusted }: WorkspaceTrust): acp.ClientCapabilities {
  return {
    fs: { readTextFile: true, writeTextFile: isTrusted },
    terminal: isTrusted,
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    elicitation: { form: {}, url: {} },
    subagents: {},
    _meta: {
      hermes: {
        edits: true,
        drafts: true,
        diagnostics: true,
        turnEnds: true,
        turnMarks: true,
        turnStates: true,
        times: true,
      },
    },
  };
}

function clientOf(name: string, answerers: Answerers): acp.ClientApp {
  const { client } = acp.methods;
  return acp
    .client({ name })
    .onNotification(client.session.update, ({ params }) => answerers.onUpdate(params))
    .onNotification("_hermes/edits/draft", draftOf, ({ params }) => {
      if (params) answerers.onDraft(params);
    })
    .onNotification("_hermes/edits/judged", judgedOf, ({ params }) => {
      if (params) answerers.onJudged(params);
    })
    .onNotification("_hermes/board/changed", boardChangeOf, ({ params }) => {
      if (params) answerers.onBoardChanged(params);
    })
    .onRequest(client.session.requestPermission, ({ params, signal }) => answerers.askPermission(params, signal))
    .onRequest(client.elicitation.create, ({ params, signal }) => answerers.inquire(params, signal))
    .onNotification(client.elicitation.complete, ({ params }) => answerers.onInquiryDone(params.elicitationId));
}

function withEditor(app: acp.ClientApp, answerers: EditorAnswerers): acp.ClientApp {
  const { client } = acp.methods;
  const { terminals } = answerers;
  return app
    .onRequest("_hermes/diagnostics", pathOf, ({ params }) => ({ diagnostics: answerers.diagnose(params) }))
    .onRequest(client.fs.readTextFile, ({ params }) => answered(() => answerers.readFile(params)))
    .onRequest(client.fs.writeTextFile, ({ params }) => answered(() => answerers.writeFile(params).then(() => ({}))))
    .onRequest(client.terminal.create, ({ params }) => answered(() => terminals.create(params)))
    .onRequest(client.terminal.output, ({ params }) => answered(() => terminals.output(params)))
    .onRequest(client.terminal.waitForExit, ({ params }) => answered(() => terminals.wait(params)))
    .onRequest(client.terminal.kill, ({ params }) =>
      answered(() => {
        terminals.kill(params);
        return {};
      }),
    )
    .onRequest(client.terminal.release, ({ params }) =>
      answered(() => {
        terminals.release(params);
        return {};
      }),
    );
}

/** Answer; or say why not in words, which the agent shows on its card: the SDK alone would say "Internal error". */
async function answered<T>(answer: () => T | Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (NotThere.is(error)) throw acp.RequestError.resourceNotFound(error.message);
    if (error instanceof acp.RequestError || !(error instanceof Error)) throw error;
    throw new acp.RequestError(INTERNAL_ERROR, error.message);
  }
}

/** Read a draft; one of another shape is none. */
function draftOf(params: unknown): EditsDraftParams | undefined {
  const { sessionId, path, newText, oldText } = (params ?? {}) as Partial<EditsDraftParams>;
  const isOne =
    [sessionId, path, newText].every((each) => typeof each === "string") && typeof (oldText ?? "") === "string";
  return isOne ? (params as EditsDraftParams) : undefined;
}

/** Read a judgement; one of another shape is none. */
function judgedOf(params: unknown): EditsJudgedParams | undefined {
  const { sessionId, path, open } = (params ?? {}) as Partial<EditsJudgedParams>;
  const isOne = typeof sessionId === "string" && typeof path === "string" && typeof open === "number";
  return isOne ? (params as EditsJudgedParams) : undefined;
}

/** Read what has changed of a board; news of another shape are none. */
function boardChangeOf(params: unknown): BoardChangedParams | undefined {
  const { board, cursor } = (params ?? {}) as Partial<BoardChangedParams>;
  return typeof board === "string" && typeof cursor === "number" ? (params as BoardChangedParams) : undefined;
}

function pathOf(params: unknown): string {
  const path = (params as { path?: unknown } | null)?.path;
  if (typeof path !== "string") throw acp.RequestError.invalidParams({ path: PATH_NEEDED });
  return path;
}

function traced(stream: acp.Stream, trace: Trace): acp.Stream {
  const tap = (direction: "→" | "←") =>
    new TransformStream<acp.AnyMessage, acp.AnyMessage>({
      transform(frame, controller) {
        trace(direction, redact(frame));
        controller.enqueue(frame);
      },
    });
  const outgoing = tap("→");
  void outgoing.readable.pipeTo(stream.writable).catch(() => undefined);
  return { writable: outgoing.writable, readable: stream.readable.pipeThrough(tap("←")) };
}
