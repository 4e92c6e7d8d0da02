/** The usage of sessions as a chart and two tables. */

import type { ComponentChildren } from "preact";

import type { UsageListGroup } from "../../acp/own";
import * as messages from "../../messages/work";
import type { UsageAction, UsageShown } from "../../work/usage";
import { amountOf, dailyBars, listed, type Measure, measureOf, measuresOf, totalOf } from "../../work/usage_figures";
import { split } from "../paths";
import { ChoiceField } from "./fields";
import { Problem } from "./problem";
import { DayChart, ShareBar } from "./usage_chart";

interface Props {
  readonly shown: UsageShown;
  readonly act: (action: UsageAction) => void;
}

export function UsageView({ shown, act }: Props) {
  const { span, by, groups, groupsAre, sessions, isWhole, isReading, lastDay, problem } = shown;
  const measure = measureOf(groupsAre, groups, shown.measure);
  const choices = Object.fromEntries(measuresOf(groupsAre).map((each) => [each, messages.USAGE_MEASURES[each]]));
  return (
    <div class="work">
      <Problem text={problem} note={isWhole ? "" : messages.USAGE_CUT} />
      <div class="usage-choices">
        <ChoiceField
          label={messages.USAGE_SPAN}
          value={String(span)}
          choices={messages.USAGE_SPANS}
          onChoice={(value) => act({ type: "span", days: Number(value) })}
        />
        <ChoiceField
          label={messages.USAGE_BY}
          value={by}
          choices={messages.USAGE_GROUPS}
          onChoice={(value) => act({ type: "by", by: value })}
        />
        <ChoiceField
          label={messages.USAGE_MEASURE}
          value={measure}
          choices={choices as Record<Measure, string>}
          onChoice={(value) => act({ type: "measure", measure: value })}
        />
      </div>
      <p class="work-note" role="status">
        {isReading && lastDay === "" ? messages.READING_USAGE : ""}
        {lastDay !== "" && groups.length === 0 ? messages.NO_USAGE : ""}
      </p>
      {groups.length > 0 && <Groups shown={shown} measure={measure} />}
      {sessions.length > 0 && <Sessions shown={shown} act={act} />}
    </div>
  );
}

function Groups({ shown, measure }: { shown: UsageShown; measure: Measure }) {
  const { groups, groupsAre, firstDay, lastDay } = shown;
  const lines = listed(groupsAre, groups, measure);
  const total = totalOf(groups);
  const most = Math.max(...groups.map((group) => amountOf(measure, group)));
  const columns = groupsAre === "tool" ? OF_TOOLS : OF_MODELS;
  return (
    <>
      {groupsAre === "day" && <DayChart bars={dailyBars(groups, measure, firstDay, lastDay)} measure={measure} />}
      <Table
        title={messages.usageBy(messages.USAGE_GROUPS[groupsAre])}
        heads={[{ head: messages.USAGE_HEADS[groupsAre] }, ...columns]}
      >
        {lines.map((group) => (
          <tr key={group.name}>
            <th scope="row">
              {group.name || messages.UNKNOWN_GROUP}
              {groupsAre !== "day" && <ShareBar share={most > 0 ? amountOf(measure, group) / most : 0} />}
            </th>
            <Cells group={group} columns={columns} />
          </tr>
        ))}
        <tr class="usage-total">
          <th scope="row">{total.name}</th>
          <Cells group={total} columns={columns} />
        </tr>
      </Table>
      {groupsAre === "tool" && <p class="work-note">{messages.RESULTS_ESTIMATED}</p>}
    </>
  );
}

interface Column {
  readonly head: string;
  readonly cell: (group: UsageListGroup) => string;
  /** Whether it is hidden when there is little room. */
  readonly isMinor?: boolean;
}

const OF_MODELS: readonly Column[] = [
  { head: messages.REQUESTS, cell: ({ requests }) => messages.number(requests), isMinor: true },
  { head: messages.TOKENS_IN, cell: ({ inputTokens }) => messages.number(inputTokens) },
  {
    head: messages.TOKENS_CACHED,
    cell: ({ cachedTokens, inputTokens }) => messages.share(cachedTokens, inputTokens),
    isMinor: true,
  },
  { head: messages.TOKENS_OUT, cell: ({ outputTokens }) => messages.number(outputTokens) },
  { head: messages.COST, cell: ({ costUsd }) => messages.dollars(costUsd) },
];
const OF_TOOLS: readonly Column[] = [
  { head: messages.CALLS, cell: ({ requests }) => messages.number(requests) },
  { head: messages.FAILED_CALLS, cell: ({ failed }) => messages.number(failed) },
  { head: messages.CALL_TIME, cell: ({ tookS }) => messages.duration(tookS), isMinor: true },
  { head: messages.RESULT_TOKENS, cell: ({ outputTokens }) => messages.number(outputTokens) },
];

function Cells({ group, columns }: { group: UsageListGroup; columns: readonly Column[] }) {
  return (
    <>
      {columns.map(({ head, cell, isMinor }) => (
        <td key={head} class={isMinor ? "minor" : undefined}>
          {cell(group)}
        </td>
      ))}
    </>
  );
}

function Sessions({ shown, act }: Props) {
  const heads = [messages.SESSION, messages.TOKENS_IN, messages.TOKENS_OUT, messages.COST].map((head) => ({ head }));
  return (
    <Table title={messages.USAGE_BY_SESSION} heads={heads}>
      {shown.sessions.map(({ sessionId, title, cwd, inputTokens, outputTokens, costUsd }) => (
        <tr key={sessionId}>
          <th scope="row">
            <button type="button" class="link" onClick={() => act({ type: "openSession", sessionId, cwd })}>
              {title || messages.UNTITLED}
            </button>
            <span class="work-facts"> {split(cwd).name}</span>
          </th>
          <td>{messages.number(inputTokens)}</td>
          <td>{messages.number(outputTokens)}</td>
          <td>{messages.dollars(costUsd)}</td>
        </tr>
      ))}
    </Table>
  );
}

type Head = Pick<Column, "head" | "isMinor">;

function Table(props: { title: string; heads: readonly Head[]; children: ComponentChildren }) {
  return (
    <table class="work-table">
      <caption>{props.title}</caption>
      <thead>
        <tr>
          {props.heads.map(({ head, isMinor }) => (
            <th key={head} scope="col" class={isMinor ? "minor" : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{props.children}</tbody>
    </table>
  );
}
