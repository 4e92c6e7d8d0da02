/** The start of the page in a browser. */

import "./style/theme.css";
import "./style/frame.css";

import { render } from "preact";

import { NOT_SIGNED_OUT } from "../messages/web";
import type { ToView } from "../panel/protocol";
import { freshId } from "../state/fresh_id";
import { start } from "../webview/start";
import { AccessToken } from "./access_token";
import { build } from "./engine";
import { Frame } from "./frame";
import { TabMemory } from "./kept";
import { ResumableSocket, type SocketWorld } from "./resumable_socket";
import { SignIn } from "./sign_in";

const ENDPOINT = "/acp";
/** A timer that fires this late was delayed by a sleep. */
const TICK_MS = 5_000;
const SLEPT_MS = 20_000;

followScheme();
const signOutAddress = addressOf("sign-out");
const access = new AccessToken({ location, history, storage: sessionStorage }, signOutAddress !== undefined);
const token = access.take();
if (token) open(token);
else signIn(false);

/** Return an address that the server embedded in the page. Only a hub, which serves several users, does this. */
function addressOf(relation: "sign-in" | "sign-out"): string | undefined {
  return document.querySelector<HTMLLinkElement>(`link[rel="${relation}"]`)?.href;
}

/** Tell scripts whether the page is dark, as VS Code does. */
function followScheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.body.classList.toggle("vscode-dark", dark.matches);
  dark.addEventListener("change", follow);
  follow();
}

function signIn(isRefused: boolean): void {
  const root = document.getElementById("root");
  const enter = (given: string) => {
    access.keep(given);
    location.reload();
  };
  if (!root) return;
  const provider = addressOf("sign-in");
  render(<SignIn isRefused={isRefused} provider={provider} onProvider={() => access.expect()} onToken={enter} />, root);
}

/** End the web session at the server, and discard the token. Return false if the server is unreachable. */
async function signOut(address: string, given: string): Promise<boolean> {
  try {
    const headers = { authorization: ["Bearer", given].join(" ") };
    const { ok, status } = await fetch(address, { method: "POST", headers, cache: "no-store" });
    if (!ok && status !== 401) return false;
  } catch {
    return false;
  }
  access.forget();
  location.reload();
  return true;
}

function open(given: string): void {
  const listeners = new Set<(message: ToView) => void>();
  const memory = new TabMemory(sessionStorage);
  const world = worldOf(given);
  const engine = build(memory, (onState) => new ResumableSocket(world, freshId(), given, onState));
  const leave =
    signOutAddress === undefined
      ? undefined
      : async () => {
          if (!(await signOut(signOutAddress, given))) engine.overlays.say(NOT_SIGNED_OUT);
        };
  engine.state.listen(() => {
    if (engine.state.value !== "refused") return;
    access.forget();
    signIn(true);
  });
  start(
    {
      post: (message) => engine.receive(message, (answer) => listeners.forEach((listener) => listener(answer))),
      listen: (listener) => {
        listeners.add(listener);
        engine.audience.admit(listener);
      },
      getState: () => memory.page(),
      setState: (state) => memory.set("page", state),
    },
    (app, model, onPast) => (
      <Frame engine={engine} model={model} onPast={onPast} onSignOut={leave}>
        {app}
      </Frame>
    ),
  );
  addEventListener("keydown", (event) => {
    const kind = answerIn(event);
    if (!kind) return;
    event.preventDefault();
    if (!answerInSight(kind)) engine.audience.post({ type: "showQuestion" });
  });
  addEventListener("pagehide", ({ persisted }) => {
    if (!persisted) engine.connection.leave();
  });
  renewAfterSleep(() => engine.connection.renew());
  void engine.connection.link().catch(() => undefined);
}

/** Answer only a visible question, so that nobody answers an unseen one. */
function answerInSight(kind: string): boolean {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>(`.frame:not([inert]) [data-kind="${kind}"]`)];
  const seen = buttons.find((button) => {
    const { x, y, width, height } = button.getBoundingClientRect();
    return button.contains(document.elementFromPoint(x + width / 2, y + height / 2));
  });
  seen?.click();
  return seen !== undefined;
}

/** Return the answer for a key, using the same keys as VS Code. */
function answerIn(event: KeyboardEvent): "allow_once" | "reject_once" | undefined {
  if (!event.altKey || !(event.ctrlKey || event.metaKey)) return undefined;
  if (event.key === "Enter") return "allow_once";
  return event.key === "Backspace" ? "reject_once" : undefined;
}

function renewAfterSleep(renew: () => void): void {
  let at = Date.now();
  setInterval(() => {
    if (Date.now() - at > SLEPT_MS) renew();
    at = Date.now();
  }, TICK_MS);
  addEventListener("online", renew);
}

function worldOf(given: string): SocketWorld {
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${ENDPOINT}`;
  return {
    open: (protocols) => new WebSocket(address, [...protocols]),
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    probe: async () => {
      try {
        const { status } = await fetch(ENDPOINT, {
          headers: { authorization: ["Bearer", given].join(" ") },
          cache: "no-store",
        });
        return status === 401 ? "refused" : "reachable";
      } catch {
        return "unreachable";
      }
    },
  };
}
