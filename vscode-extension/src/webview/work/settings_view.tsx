/** The settings that are safe to change, as a form. */

import { useEffect, useState } from "preact/hooks";

import type { SettingsListSetting } from "../../acp/own";
import * as messages from "../../messages/work";
import type { SettingsAction, SettingsShown } from "../../work/settings";
import { Problem } from "./problem";

interface Props {
  readonly shown: SettingsShown;
  readonly act: (action: SettingsAction) => void;
}

export function SettingsView({ shown, act }: Props) {
  return (
    <div class="work">
      <Problem text={shown.problem} note={messages.SETTINGS_NOTE} />
      {shown.settings.map((each) => (
        <Setting key={each.name} setting={each} onValue={(value) => act({ type: "change", name: each.name, value })} />
      ))}
    </div>
  );
}

function Setting({ setting, onValue }: { setting: SettingsListSetting; onValue: (value: string) => void }) {
  const { name, title, about, kind, value, fallback, choices, isSet } = setting;
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [setting]);
  const described = `about-${name}`;
  return (
    <form
      class="work-setting"
      onSubmit={(event) => {
        event.preventDefault();
        onValue(text);
      }}
    >
      <label class="work-field">
        {title}
        {kind === "choice" ? (
          <select value={value} aria-describedby={described} onChange={(event) => onValue(event.currentTarget.value)}>
            {choices.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        ) : (
          <input
            type="text"
            autocomplete="off"
            inputMode={kind === "integer" ? "numeric" : "decimal"}
            aria-describedby={described}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </label>
      <p id={described} class="work-facts">
        {about} <code>{name}</code>
      </p>
      <div class="work-actions">
        {text !== value && (
          <button type="submit" class="button" aria-label={messages.savedAs(title)}>
            {messages.SAVE_SETTING}
          </button>
        )}
        {isSet && (
          <button
            type="button"
            class="button quiet"
            aria-label={messages.defaultFor(title, fallback)}
            onClick={() => onValue("")}
          >
            {messages.useDefault(fallback)}
          </button>
        )}
      </div>
    </form>
  );
}
