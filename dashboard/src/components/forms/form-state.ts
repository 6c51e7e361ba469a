/** The state of a form's last submission, for its fields. */
import { createContext, useContext } from 'react';

export interface FormState {
  readonly isBusy: boolean;
  /** Error messages by field name. */
  readonly problems: ReadonlyMap<string, string>;
}

export const FormContext = createContext<FormState>({ isBusy: false, problems: new Map() });

/** The server's error message for a field, if any. */
export function useProblem(name: string): string | undefined {
  return useContext(FormContext).problems.get(name);
}
