/** A value that others want to know changes of. */

import { useEffect, useState } from "preact/hooks";

export class Observable<T> {
  private readonly listeners = new Set<() => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    this.current = value;
    for (const listener of [...this.listeners]) listener();
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** Draw a component again whenever the value changes. */
export function useValue<T>(observable: Observable<T>): T {
  const [value, setValue] = useState(() => observable.value);
  useEffect(() => {
    setValue(() => observable.value);
    return observable.listen(() => setValue(() => observable.value));
  }, [observable]);
  return value;
}
