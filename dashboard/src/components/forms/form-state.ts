/** What a form knows of its last try, for the fields in it. */
import { createContext, useContext } from 'react';

export interface FormState {
  readonly isBusy: boolean;
  /** What was wrong, by the name of the field. */
  readonly problems: ReadonlyMap<string, string>;
}

export const FormContext = createContext<FormState>({ isBusy: false, problems: new Map() });

/** What the server said of a field, if it did. */
export function useProblem(name: string): string | undefined {
  return useContext(FormContext).problems.get(name);
}
