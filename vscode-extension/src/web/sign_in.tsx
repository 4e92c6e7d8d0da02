/** The sign-in form for an address without a token, with a field that a password manager can fill. */

import { useState } from "preact/hooks";

import * as messages from "../messages/web";

interface Props {
  readonly isRefused: boolean;
  /** Where people sign in with an identity provider, if there is one. */
  readonly provider: string | undefined;
  readonly onProvider: () => void;
  readonly onToken: (token: string) => void;
}

export function SignIn({ isRefused, provider, onProvider, onToken }: Props) {
  const [token, setToken] = useState("");
  const enter = (event: Event) => {
    event.preventDefault();
    if (token.trim()) onToken(token.trim());
  };
  return (
    <main class="sign-in">
      <h1>{provider ? messages.SIGN_IN : messages.ENTER_TOKEN}</h1>
      {provider && (
        <a class="button primary" href={provider} onClick={onProvider}>
          {messages.SIGN_IN_WITH_PROVIDER}
        </a>
      )}
      <p>{provider ? messages.OR_TOKEN : messages.TOKEN_WHERE}</p>
      <form onSubmit={enter}>
        <label>
          {messages.TOKEN}
          <input
            type="password"
            autocomplete="current-password"
            value={token}
            aria-invalid={isRefused}
            aria-describedby={isRefused ? "refused" : undefined}
            ref={(element) => {
              if (element && document.activeElement === document.body) element.focus();
            }}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        {isRefused && (
          <p id="refused" class="refusal" role="alert">
            {messages.TOKEN_REFUSED}
          </p>
        )}
        <button type="submit" class="button primary">
          {messages.CONNECT}
        </button>
      </form>
    </main>
  );
}
