/** Observables in components. */

import { useEffect, useState } from "preact/hooks";

import type { Observable } from "../state/observable";

/** Rerender a component whenever the value changes. */
export function useValue<T>(observable: Observable<T>): T {
  const [value, setValue] = useState(() => observable.value);
  useEffect(() => {
    setValue(() => observable.value);
    return observable.listen(() => setValue(() => observable.value));
  }, [observable]);
  return value;
}
