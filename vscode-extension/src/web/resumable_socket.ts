/**
 * One connection over any number of WebSockets. When one breaks, the next continues after the last message of either
 * side.
 *
 * The counts travel among the subprotocols, as does the token: a page can neither set nor read headers of a WebSocket.
 */

import type * as acp from "@agentclientprotocol/sdk/unstable";

import { MESSAGE_TOO_LARGE } from "../messages/web";

export type SocketState = "connecting" | "open" | "offline" | "refused" | "ended";

/** The server no longer has this connection, or another socket uses it. */
const GONE = 4404;
const TAKEN_OVER = 4001;
const LEFT = 4000;
/** The server closes the socket of a client that sends more, and would do so after each retry. */
const MAX_BYTES = 32 << 20;
const INVALID_REQUEST = -32600;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;

type Socket = Pick<WebSocket, "send" | "close" | "onopen" | "onmessage" | "onclose">;

export interface SocketWorld {
  open(protocols: readonly string[]): Socket;
  /** Ask over HTTP why no socket could be opened. */
  probe(): Promise<"refused" | "unreachable" | "reachable">;
  pause(ms: number): Promise<void>;
}

interface Sent {
  readonly number: number;
  readonly text: string;
  /** The ID of a request. */
  readonly id: unknown;
}

export class ResumableSocket {
  readonly stream: acp.Stream;
  readonly ended: Promise<SocketState>;
  private state: SocketState = "connecting";
  private socket: Socket | undefined;
  private incoming: ReadableStreamDefaultController<acp.AnyMessage> | undefined;
  private end: (state: SocketState) => void = () => undefined;
  private received = 0;
  private last = 0;
  /** Messages that the server may not have received. A response to a request confirms everything before it. */
  private sent: Sent[] = [];
  private failures = 0;

  constructor(
    private readonly world: SocketWorld,
    private readonly id: string,
    private readonly token: string,
    private readonly onState: (state: SocketState) => void,
  ) {
    this.ended = new Promise((resolve) => (this.end = resolve));
    this.stream = {
      readable: new ReadableStream({ start: (controller) => void (this.incoming = controller) }),
      writable: new WritableStream({ write: (message) => this.send(message) }),
    };
    this.open();
  }

  /** Replace the socket, because after a sleep it may be dead. */
  renew(): void {
    if (this.isOver || this.state === "connecting") return;
    this.drop();
    this.open();
  }

  /** Leave this connection, so that the server does not wait for another socket. */
  leave(): void {
    this.drop(LEFT);
  }

  private get isOver(): boolean {
    return this.state === "ended" || this.state === "refused";
  }

  private send(message: acp.AnyMessage): void {
    const id = "method" in message && "id" in message ? message.id : undefined;
    const text = JSON.stringify(message);
    if (id !== undefined && isTooLarge(text)) {
      this.incoming?.enqueue({ jsonrpc: "2.0", id, error: { code: INVALID_REQUEST, message: MESSAGE_TOO_LARGE } });
      return;
    }
    this.last += 1;
    const one = { number: this.last, text, id };
    this.sent.push(one);
    if (this.state === "open") this.socket?.send(one.text);
  }

  private open(): void {
    this.show("connecting");
    const first = this.sent[0]?.number ?? this.last + 1;
    const position = `acp-resume.${this.id}.${this.received}.${first}`;
    const socket = this.world.open(["acp", `base64url.bearer.${base64url(this.token)}`, position]);
    this.socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      if (this.socket !== socket) return;
      wasOpen = true;
      for (const { text } of this.sent) socket.send(text);
      this.show("open");
    };
    socket.onmessage = ({ data }: MessageEvent) => {
      if (this.socket === socket) this.take(String(data));
    };
    socket.onclose = ({ code }: CloseEvent) => {
      if (this.socket !== socket) return;
      this.socket = undefined;
      if (code === GONE || code === TAKEN_OVER) this.finish("ended");
      else void this.retry(wasOpen);
    };
  }

  private take(text: string): void {
    this.received += 1;
    this.failures = 0;
    const message = JSON.parse(text) as acp.AnyMessage;
    if (!("method" in message)) this.prune(message.id);
    this.incoming?.enqueue(message);
  }

  /** Drop confirmed messages: an answered request and everything before it. */
  private prune(id: unknown): void {
    const at = this.sent.findIndex((each) => each.id !== undefined && each.id === id);
    if (at >= 0) this.sent = this.sent.slice(at + 1);
  }

  private async retry(wasOpen: boolean): Promise<void> {
    this.show("offline");
    if (!wasOpen && (await this.world.probe()) === "refused") return this.finish("refused");
    this.failures += 1;
    await this.world.pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * (2 ** (this.failures - 1) - 1)));
    if (this.state === "offline") this.open();
  }

  private drop(code?: number): void {
    const { socket } = this;
    this.socket = undefined;
    socket?.close(code);
  }

  private finish(state: "ended" | "refused"): void {
    if (this.isOver) return;
    this.show(state);
    this.incoming?.close();
    this.end(state);
  }

  private show(state: SocketState): void {
    this.state = state;
    this.onState(state);
  }
}

/** A UTF-16 unit takes at most three bytes. */
function isTooLarge(text: string): boolean {
  return text.length * 3 > MAX_BYTES && new Blob([text]).size > MAX_BYTES;
}

function base64url(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
