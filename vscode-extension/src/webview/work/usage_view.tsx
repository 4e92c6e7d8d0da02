/**
 * What sessions have used, as two tables.
 *
 * Knows: which figures are shown. Does not know: where they come from.
 */

import type { ComponentChildren } from "preact";

import type { UsageListSession } from "../../acp/own";
import * as messages from "../../messages/work";
import type { UsageAction, UsageShown } from "../../work/usage";
import { split } from "../paths";
import { ChoiceField } from "./fields";
import { Problem } from "./problem";

interface Props {
  readonly shown: UsageShown;
  readonly act: (action: UsageAction) => void;
}

export function UsageView({ shown, act }: Props) {
  const { span, days, sessions, isWhole, isThere, problem } = shown;
  return (
    <div class="work">
      <Problem text={problem} note={isWhole ? "" : messages.USAGE_CUT} />
      <ChoiceField
        label={messages.USAGE_SPAN}
        value={String(span)}
        choices={messages.USAGE_SPANS}
        onChoice={(value) => act({ type: "span", days: Number(value) })}
      />
      {isThere && sessions.length === 0 && <p class="work-note">{messages.NO_USAGE}</p>}
      {sessions.length > 0 && (
        <>
          <Table title={messages.USAGE_BY_DAY} first={messages.DAY}>
            {days.map(({ day, ...used }) => (
              <Row key={day} used={used}>
                {day || messages.NO_DAY}
              </Row>
            ))}
          </Table>
          <Table title={messages.USAGE_BY_SESSION} first={messages.SESSION}>
            {sessions.map(({ sessionId, title, cwd, ...used }) => (
              <Row key={sessionId} used={used}>
                <button type="button" class="link" onClick={() => act({ type: "openSession", sessionId, cwd })}>
                  {title || messages.UNTITLED}
                </button>
                <span class="work-facts"> {split(cwd).name}</span>
              </Row>
            ))}
          </Table>
        </>
      )}
    </div>
  );
}

function Table({ title, first, children }: { title: string; first: string; children: ComponentChildren }) {
  return (
    <table class="work-table">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">{first}</th>
          <th scope="col">{messages.TOKENS_IN}</th>
          <th scope="col">{messages.TOKENS_OUT}</th>
          <th scope="col">{messages.COST}</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

type Used = Pick<UsageListSession, "inputTokens" | "outputTokens" | "costUsd">;

function Row({ used, children }: { used: Used; children: ComponentChildren }) {
  return (
    <tr>
      <th scope="row">{children}</th>
      <td>{messages.number(used.inputTokens)}</td>
      <td>{messages.number(used.outputTokens)}</td>
      <td>{messages.dollars(used.costUsd)}</td>
    </tr>
  );
}
