/** One connection to one agent process: the SDK's client side, wired to the handlers of the agent's requests. */

import * as acp from "@agentclientprotocol/sdk/unstable";

import { PATH_NEEDED } from "../messages/agent";
import { CLIENT_TITLE } from "../messages/editor";
import { otherProtocol } from "../messages/server";
import { NotThere } from "./methods";
import type { BoardChangedParams, EditsDraftParams, EditsJudgedParams } from "./own";
import { redact } from "./redact";

/** Handlers for an agent's requests to an editor. */
export interface Answerers {
  onUpdate(notification: acp.SessionNotification): void;
  askPermission(request: acp.RequestPermissionRequest, signal: AbortSignal): Promise<acp.RequestPermissionResponse>;
  inquire(request: acp.CreateElicitationRequest, signal: AbortSignal): Promise<acp.CreateElicitationResponse>;
  onInquiryDone(id: string): void;
  /** Receive a draft of an edit while it is being written. */
  onDraft(draft: EditsDraftParams): void;
  /** The open hunks of a file have changed, whoever reviewed them. */
  onJudged(judged: EditsJudgedParams): void;
  onBoardChanged(change: BoardChangedParams): void;
}

/** Handlers for an agent's requests to an editor with files, terminals and diagnostics. */
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

/** Without workspace trust, nothing is written or run for the agent, and the agent is told so. */
export interface WorkspaceTrust {
  readonly isTrusted: boolean;
}

/** A client's self-description in the initialize request. */
export type Introduction = Omit<acp.InitializeRequest, "protocolVersion">;

export interface Link {
  readonly agent: acp.ClientContext;
  readonly greeting: acp.InitializeResponse;
  readonly isClosed: boolean;
  close(): void;
}

export type Trace = (direction: "→" | "←", frame: unknown) => void;

/** Initialize the agent over a process's streams, as VS Code. Rejects like `greet`. */
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

/** Initialize the agent over a message stream, as a client without its own files and terminals. */
export function connectStream(stream: acp.Stream, answerers: Answerers, introduction: Introduction): Promise<Link> {
  return greet(clientOf(introduction.clientInfo?.name ?? "", answerers).connect(stream), introduction);
}

/** Initialize an agent. Rejects if it does not respond, or not in version 1. */
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

/** Answer, or fail with a sentence that the agent shows on its card. The SDK alone would say "Internal error". */
async function answered<T>(answer: () => T | Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (NotThere.is(error)) throw acp.RequestError.resourceNotFound(error.message);
    if (error instanceof acp.RequestError || !(error instanceof Error)) throw error;
    throw new acp.RequestError(INTERNAL_ERROR, error.message);
  }
}

/** Parse a draft, ignoring other shapes. */
function draftOf(params: unknown): EditsDraftParams | undefined {
  const { sessionId, path, newText, oldText } = (params ?? {}) as Partial<EditsDraftParams>;
  const isOne =
    [sessionId, path, newText].every((each) => typeof each === "string") && typeof (oldText ?? "") === "string";
  return isOne ? (params as EditsDraftParams) : undefined;
}

/** Parse a review notification, ignoring other shapes. */
function judgedOf(params: unknown): EditsJudgedParams | undefined {
  const { sessionId, path, open } = (params ?? {}) as Partial<EditsJudgedParams>;
  const isOne = typeof sessionId === "string" && typeof path === "string" && typeof open === "number";
  return isOne ? (params as EditsJudgedParams) : undefined;
}

/** Parse a board change, ignoring other shapes. */
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
