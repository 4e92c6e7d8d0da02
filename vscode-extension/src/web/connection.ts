/** The page's connection to its server, opened with the page and reopened when the server has lost it. */

import type { Link } from "../acp/link";
import { CONNECTION_LOST } from "../messages/web";
import type { ResumableSocket, SocketState } from "./resumable_socket";

export interface ConnectionWatcher {
  onState(state: SocketState): void;
  /** Receive a new connection, which is in use once this settles. */
  onLink(link: Link): Promise<void>;
  onLost(why: string): void;
}

const MIN_PAUSE_MS = 500;

export class Connection {
  private current: ResumableSocket | undefined;
  private greeted: Promise<Link> | undefined;

  constructor(
    private readonly open: (onState: (state: SocketState) => void) => ResumableSocket,
    private readonly greet: (socket: ResumableSocket) => Promise<Link>,
    private readonly watcher: ConnectionWatcher,
  ) {}

  /** Return the connection, opening it if necessary. */
  link(): Promise<Link> {
    this.greeted ??= this.start();
    return this.greeted;
  }

  /** Check that the server is reachable, after a sleep or when the network is back. */
  renew(): void {
    this.current?.renew();
  }

  /** The page is left and will not resume this connection. */
  leave(): void {
    this.current?.leave();
  }

  private async start(): Promise<Link> {
    const socket = this.open((state) => this.watcher.onState(state));
    this.current = socket;
    void socket.ended.then((state) => this.lose(state));
    const link = await this.greet(socket);
    await this.watcher.onLink(link);
    return link;
  }

  /** The server has dropped the connection. All open sessions are reloaded over a new one. */
  private lose(state: SocketState): void {
    this.current = undefined;
    this.greeted = undefined;
    this.watcher.onLost(CONNECTION_LOST);
    if (state === "ended") setTimeout(() => void this.link().catch(() => undefined), MIN_PAUSE_MS);
  }
}
