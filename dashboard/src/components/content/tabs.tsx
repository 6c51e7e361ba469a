/** Tabs that are switched with the arrow keys. */
import { type KeyboardEvent, type ReactNode, useId } from 'react';
import './tabs.css';

interface TabsProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly T[];
  readonly value: T;
  readonly onChange: (tab: T) => void;
  readonly children: ReactNode;
}

export function Tabs<T extends string>({ label, tabs, value, onChange, children }: TabsProps<T>) {
  // Places, because an id has no space.
  const id = useId();
  const move = (event: KeyboardEvent<HTMLElement>): void => {
    const at = tabs.indexOf(value);
    const next: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
    const target = tabs.at((next[event.key] ?? Number.NaN) % tabs.length);
    if (next[event.key] === undefined || target === undefined) return;
    event.preventDefault();
    onChange(target);
    event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]').item(tabs.indexOf(target)).focus();
  };
  return (
    <div>
      <div className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab, at) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`${id}-${at}`}
            aria-selected={tab === value}
            aria-controls={`${id}-panel`}
            tabIndex={tab === value ? 0 : -1}
            className="tab"
            onClick={() => onChange(tab)}
          >
            {tab}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${tabs.indexOf(value)}`}>
        {children}
      </div>
    </div>
  );
}
