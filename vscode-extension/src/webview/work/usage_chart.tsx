/**
 * Usage as bars: one per day above the table, and one in each of its rows.
 *
 * To a screen reader, the chart is a single image; the table has the details.
 */

import * as messages from "../../messages/work";
import { type Bar, type Measure, written, writtenShort } from "../../work/usage_figures";

const HEIGHT = 100;
const LEAST = 1.5;

export function DayChart({ bars, measure }: { bars: readonly Bar[]; measure: Measure }) {
  const first = bars[0];
  const last = bars[bars.length - 1];
  if (!first || !last) return null;
  const most = bars.reduce((best, bar) => (bar.amount > best.amount ? bar : best), first);
  const total = bars.reduce((sum, { amount }) => sum + amount, 0);
  const label = messages.usageChart(
    messages.USAGE_MEASURES[measure],
    first.name,
    last.name,
    written(measure, total),
    written(measure, most.amount),
    most.name,
  );
  return (
    <div class="usage-chart">
      <div class="usage-scale" aria-hidden="true">
        <span>{writtenShort(measure, most.amount)}</span>
        <span>0</span>
      </div>
      <svg viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {[0, HEIGHT / 2, HEIGHT].map((y) => (
          <line key={y} class="usage-grid" x1={0} x2={bars.length} y1={y} y2={y} vector-effect="non-scaling-stroke" />
        ))}
        {bars.map(({ name, amount }, at) => {
          if (amount <= 0) return null;
          const height = Math.max(LEAST, (HEIGHT * amount) / most.amount);
          return (
            <rect key={name} class="usage-bar" x={at + 0.1} y={HEIGHT - height} width={0.8} height={height}>
              <title>{messages.usageBar(name, written(measure, amount))}</title>
            </rect>
          );
        })}
      </svg>
      <div class="usage-ends" aria-hidden="true">
        <span>{first.name}</span>
        <span>{last.name}</span>
      </div>
    </div>
  );
}

/** The bar of one row, which repeats the figures next to it. */
export function ShareBar({ share }: { share: number }) {
  return (
    <svg class="usage-share" aria-hidden="true">
      <rect class="usage-bar" width={`${(100 * share).toFixed(2)}%`} height="100%" />
    </svg>
  );
}
