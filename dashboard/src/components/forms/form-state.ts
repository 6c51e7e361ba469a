/** The error messages of a form's last submission, for its fields. */
import { createContext, useContext } from 'react';

/** By field name. */
export const ProblemsContext = createContext<ReadonlyMap<string, string>>(new Map());

/** The server's error message for a field, if any. */
export function useProblem(name: string): string | undefined {
  return useContext(ProblemsContext).get(name);
}
