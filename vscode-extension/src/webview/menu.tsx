/** The menu above the prompt: candidates for an @ or a /. */

import { SELECTED_LINES, SUGGESTIONS } from "../messages/panel";
import type { Mention } from "../panel/protocol";
import type { SlashCommand } from "../state/terms";
import { split } from "./paths";

export interface Word {
  readonly sign: "@" | "/";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface MenuOption {
  readonly insert: string;
  readonly label: string;
  /** What may follow it. */
  readonly hint: string;
  readonly detail: string;
  readonly icon: string;
  readonly mention?: Mention;
}

/** Return the @ or / word in which the caret is; a slash counts only at the very beginning. */
export function wordBefore(text: string, caret: number): Word | undefined {
  const before = text.slice(0, caret);
  const mention = /(^|\s)@([^\s@]*)$/.exec(before);
  if (mention) return { sign: "@", text: mention[2] ?? "", start: caret - (mention[2] ?? "").length - 1, end: caret };
  const command = /^\/(\S*)$/.exec(before);
  return command ? { sign: "/", text: command[1] ?? "", start: 0, end: caret } : undefined;
}

const ICONS: Readonly<Record<Mention["kind"], string>> = {
  file: "file",
  folder: "folder",
  symbol: "symbol-method",
  selection: "list-selection",
  problems: "warning",
  changes: "git-commit",
  terminal: "terminal",
  url: "globe",
  session: "history",
};

export function optionsFor(
  word: Word | undefined,
  found: { readonly query: string; readonly mentions: readonly Mention[] },
  commands: readonly SlashCommand[],
): readonly MenuOption[] {
  if (word?.sign === "/") {
    return commands
      .filter((command) => command.name.startsWith(word.text))
      .map(({ name, description, hint }) => ({
        insert: `/${name}`,
        label: `/${name}`,
        hint,
        detail: description,
        icon: "terminal-powershell",
      }));
  }
  if (word?.sign !== "@" || !word.text.toLowerCase().startsWith(found.query.toLowerCase())) return [];
  // Until the host responds, filter the results for the shorter word here.
  const wanted = word.text.toLowerCase();
  const isMeant = ({ token, label }: Mention) => `${token}\n${label}`.toLowerCase().includes(wanted);
  const mentions = found.query.toLowerCase() === wanted ? found.mentions : found.mentions.filter(isMeant);
  return mentions.map((mention) => ({
    insert: `@${mention.token}`,
    label: mention.label,
    hint: "",
    detail: detailOf(mention),
    icon: ICONS[mention.kind],
    mention,
  }));
}

/** Say of a mention what its label does not. */
function detailOf({ kind, detail }: Mention): string {
  if (kind === "selection") return SELECTED_LINES;
  return kind === "file" || kind === "folder" ? split(detail).folder : detail;
}

interface Props {
  readonly options: readonly MenuOption[];
  readonly chosen: number;
  readonly onTake: (option: MenuOption) => void;
}

export function Menu({ options, chosen, onTake }: Props) {
  return (
    <div
      class="menu"
      id="composer-menu"
      role="listbox"
      aria-label={SUGGESTIONS}
      onMouseDown={(event) => event.preventDefault()}
    >
      {options.map((option, at) => (
        <div
          key={`${option.insert} ${option.mention?.uri ?? ""}`}
          id={`option-${at}`}
          class={`menu-option ${option.mention ? "" : "tall"} ${at === chosen ? "chosen" : ""}`}
          title={option.detail}
          role="option"
          aria-selected={at === chosen}
          ref={(element) => {
            if (at === chosen) element?.scrollIntoView({ block: "nearest" });
          }}
          onMouseDown={(event) => {
            event.preventDefault();
            onTake(option);
          }}
        >
          <i class={`codicon codicon-${option.icon}`} />
          <span class="menu-words">
            <span class="menu-label">
              {option.label}
              {option.hint && <span class="menu-hint"> {option.hint}</span>}
            </span>
            {option.detail && option.detail !== option.label && <span class="menu-detail">{option.detail}</span>}
          </span>
        </div>
      ))}
    </div>
  );
}
