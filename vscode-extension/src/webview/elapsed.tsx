/** How long something takes, or took. */

import { useEffect, useState } from "preact/hooks";

import { duration } from "../messages/conversation";
import type { Clock } from "../state/terms";

const TICK_MS = 1000;
/** Shorter durations are not shown. */
const MIN_SHOWN_MS = 1000;

/** Show the duration, with `details` on hover. */
export function Elapsed({ clock, details }: { clock: Clock | undefined; details?: string }) {
  if (!clock) return null;
  if (clock.tookMs === undefined) return <Running beganAt={clock.beganAt} />;
  if (clock.tookMs < MIN_SHOWN_MS) return null;
  return (
    <span class="elapsed" title={details}>
      {duration(clock.tookMs)}
    </span>
  );
}

function Running({ beganAt }: { beganAt: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [beganAt]);
  const passed = Math.max(0, now - beganAt);
  return passed < MIN_SHOWN_MS ? null : <span class="elapsed">{duration(passed)}</span>;
}
