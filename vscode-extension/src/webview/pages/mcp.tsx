/** The page of MCP servers. */

import type { McpListResult, McpListServer } from "../../acp/own";
import * as messages from "../../messages/pages";
import type { FromPages } from "../../pages/protocol";
import { post } from "./bridge";

type Action = Extract<FromPages, { type: "server" }>["action"];

const NAMES: Readonly<Record<Action, string>> = {
  reconnect: messages.RECONNECT,
  signIn: messages.SIGN_IN,
  signOut: messages.SIGN_OUT,
  enable: messages.SWITCH_ON,
  disable: messages.SWITCH_OFF,
};

export function McpPage({ list, isBusy }: { list: McpListResult; isBusy: boolean }) {
  return (
    <>
      {list.notices.map((notice) => (
        <p class="page-error">{notice}</p>
      ))}
      {list.servers.length === 0 && (
        <p>
          {messages.NO_SERVERS}{" "}
          <button type="button" class="link" onClick={() => post({ type: "open", path: list.configFile })}>
            {messages.OPEN_CONFIG}
          </button>
        </p>
      )}
      {list.servers.map((server) => (
        <Server key={`${server.scope} ${server.name}`} server={server} isBusy={isBusy} />
      ))}
    </>
  );
}

/** Return the available actions on a server. */
function actionsOf(server: McpListServer): readonly Action[] {
  const isOwn = server.scope === "user";
  if (!server.isEnabled) return isOwn ? ["enable"] : [];
  return [
    ...(server.needsSignIn ? (["signIn"] as const) : []),
    ...(server.isConnected || !server.isTrusted ? [] : (["reconnect"] as const)),
    ...(server.canSignIn && !server.needsSignIn ? (["signOut"] as const) : []),
    ...(isOwn ? (["disable"] as const) : []),
  ];
}

function iconOf({ isConnected, isEnabled, isTrusted, needsSignIn }: McpListServer): string {
  if (!isEnabled) return "circle-slash";
  if (!isTrusted) return "shield";
  if (needsSignIn) return "key";
  return isConnected ? "pass" : "warning";
}

function Server({ server, isBusy }: { server: McpListServer; isBusy: boolean }) {
  const { name, file, tools } = server;
  return (
    <section class="entry" aria-label={name}>
      <div class="entry-head">
        <i class={`codicon codicon-${iconOf(server)}`} aria-hidden="true" />
        <h2>{name}</h2>
        <span class="entry-quiet">
          {messages.SCOPES[server.scope]}
          {server.isTrusted ? "" : ` · ${messages.NOT_TRUSTED}`}
        </span>
      </div>
      <p>{server.state}</p>
      {server.target && <code class="entry-code">{server.target}</code>}
      {(tools.length > 0 || server.prompts > 0) && (
        <details>
          <summary>{messages.toolCount(tools.length, server.prompts)}</summary>
          <ul class="entry-list">
            {tools.map((tool) => (
              <li key={tool}>
                <code>{tool}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      <div class="entry-actions">
        {actionsOf(server).map((action) => (
          <button
            key={action}
            type="button"
            class="button small"
            disabled={isBusy}
            aria-label={messages.serverAction(NAMES[action], name)}
            onClick={() => post({ type: "server", name, action })}
          >
            {NAMES[action]}
          </button>
        ))}
        {!server.isTrusted && (
          <button
            type="button"
            class="button small"
            aria-label={messages.serverAction(messages.REVIEW_TRUST, name)}
            onClick={() => post({ type: "go", page: "trust" })}
          >
            {messages.REVIEW_TRUST}
          </button>
        )}
        {file && (
          <button type="button" class="link" onClick={() => post({ type: "open", path: file })}>
            {messages.openFile(file)}
          </button>
        )}
      </div>
    </section>
  );
}
