import { describe, expect, it } from "vitest";

import { MESSAGE_TOO_LARGE } from "../../src/messages/web";
import { ResumableSocket, type SocketState, type SocketWorld } from "../../src/web/resumable_socket";

/** A socket whose other end is the test. */
class Wire {
  readonly sent: string[] = [];
  isClosed = false;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  constructor(readonly position: string) {}

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.isClosed = true;
  }

  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  }

  get ids(): readonly unknown[] {
    return this.sent.map((text) => (JSON.parse(text) as { id?: unknown; method?: string }).id ?? "note");
  }
}

class Scene {
  readonly wires: Wire[] = [];
  readonly states: SocketState[] = [];
  answer: Awaited<ReturnType<SocketWorld["probe"]>> = "reachable";
  readonly socket = new ResumableSocket(
    {
      open: (protocols) => {
        const wire = new Wire(protocols[2]?.replace("acp-resume.", "") ?? "");
        this.wires.push(wire);
        return wire as unknown as WebSocket;
      },
      probe: () => Promise.resolve(this.answer),
      pause: () => Promise.resolve(),
    },
    "id",
    "token",
    (state) => this.states.push(state),
  );
  private readonly writer = this.socket.stream.writable.getWriter();
  readonly reader = this.socket.stream.readable.getReader();

  get wire(): Wire {
    return this.wires.at(-1) as Wire;
  }

  async send(id: number | undefined, method = "m"): Promise<void> {
    await this.writer.write({ jsonrpc: "2.0", method, ...(id === undefined ? {} : { id }) } as never);
  }

  async drop(code = 1006): Promise<void> {
    const before = this.wires.length;
    this.wire.onclose?.({ code });
    for (let turn = 0; turn < 20 && this.wires.length === before; turn += 1) await Promise.resolve();
  }
}

describe("a socket that breaks", () => {
  it("goes on behind the last message that was received, and repeats what has no answer", async () => {
    const scene = new Scene();
    expect(scene.wire.position).toBe("id.0.1");
    await scene.send(1);
    expect(scene.wire.sent).toEqual([]);
    scene.wire.onopen?.();
    await scene.send(2);
    scene.wire.say({ id: 1, result: {} });
    scene.wire.say({ method: "session/update", params: {} });
    await scene.drop();
    expect(scene.wire.position).toBe("id.2.2");
    await scene.send(3);
    scene.wire.onopen?.();
    expect(scene.wire.ids).toEqual([2, 3]);
  });

  it("counts notifications and answers as sent with the request behind them that is answered", async () => {
    const scene = new Scene();
    scene.wire.onopen?.();
    await scene.send(undefined, "session/cancel");
    await scene.send(7);
    await scene.send(undefined, "session/cancel");
    scene.wire.say({ id: 7, result: {} });
    await scene.drop();
    expect(scene.wire.position).toBe("id.1.3");
    scene.wire.onopen?.();
    expect(scene.wire.ids).toEqual(["note"]);
  });

  it("is replaced on demand, and the one before is not heard any more", async () => {
    const scene = new Scene();
    const [first] = scene.wires;
    first?.onopen?.();
    scene.socket.renew();
    expect(first?.isClosed).toBe(true);
    first?.say({ method: "late" });
    expect(scene.wire.position).toBe("id.0.1");
    first?.onclose?.({ code: 1000 });
    expect(scene.wires).toHaveLength(2);
  });

  it("answers a request itself that the server would not take, and sends what comes behind it", async () => {
    const scene = new Scene();
    scene.wire.onopen?.();
    await scene.send(1, "m".repeat(33 << 20));
    const { value } = await scene.reader.read();
    expect(value).toMatchObject({ id: 1, error: { message: MESSAGE_TOO_LARGE } });
    await scene.send(2);
    expect(scene.wire.ids).toEqual([2]);
    await scene.drop();
    expect(scene.wire.position).toBe("id.0.1");
  });

  it("ends where the server has forgotten the connection", async () => {
    const scene = new Scene();
    scene.wire.onopen?.();
    await scene.drop(4404);
    expect(await scene.socket.ended).toBe("ended");
    expect((await scene.reader.read()).done).toBe(true);
    expect(scene.wires).toHaveLength(1);
  });

  it("is not tried again with a token that is refused", async () => {
    const scene = new Scene();
    scene.answer = "refused";
    await scene.drop();
    expect(await scene.socket.ended).toBe("refused");
    expect(scene.states).toEqual(["connecting", "offline", "refused"]);
  });
});
