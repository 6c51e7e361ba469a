/** A form that shows each error next to the field it is about. */
import { type ReactNode, type SubmitEvent, useEffect, useMemo, useRef, useState } from 'react';
import { ApiError } from '../../api/client.js';
import { refreshSession } from '../../api/session.js';
import { sortDetails } from '../content/sort-details.js';
import { Failure } from '../feedback/notice.js';
import { FormContext } from './form-state.js';

interface FormProps {
  /** Submits the form. Thrown errors are shown. */
  readonly onSend: (data: FormData) => Promise<unknown>;
  /** Messages by status that replace the server's. */
  readonly messages?: Readonly<Record<number, string>>;
  /** The fields and buttons. */
  readonly children: (isBusy: boolean) => ReactNode;
  readonly label?: string;
}

export function Form({ onSend, messages = {}, children, label }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const state = useMemo(() => ({ isBusy, problems }), [isBusy, problems]);

  const send = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      await onSend(new FormData(event.currentTarget));
      setError(null);
      setProblems(new Map());
    } catch (thrown) {
      // A wrong password, or an expired session: reloading the session then redirects to the sign-in page.
      if (thrown instanceof ApiError && thrown.status === 401) void refreshSession();
      const failure = sorted(thrown, fieldsOf(form.current), messages);
      setError(failure.error);
      setProblems(failure.problems);
    } finally {
      setBusy(false);
    }
  };

  useEffect(() => {
    if (problems.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [problems]);

  return (
    <FormContext value={state}>
      <form ref={form} className="stack" aria-label={label} onSubmit={(event) => void send(event)}>
        {error !== null && <Failure error={error} />}
        {children(isBusy)}
      </form>
    </FormContext>
  );
}

function fieldsOf(form: HTMLFormElement | null): string[] {
  return [...(form?.elements ?? [])].map((element) => element.getAttribute('name') ?? '');
}

function sorted(
  thrown: unknown,
  fields: readonly string[],
  messages: Readonly<Record<number, string>>,
): { error: Error | null; problems: ReadonlyMap<string, string> } {
  if (!(thrown instanceof ApiError))
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)), problems: new Map() };
  const { problems, rest } = sortDetails(thrown.details, fields);
  if (problems.size > 0 && rest.length === 0) return { error: null, problems };
  const message = messages[thrown.status] ?? thrown.message;
  return { error: new ApiError({ status: thrown.status, message, details: rest }), problems };
}

/** The trimmed value of a text field. */
export function textOf(data: FormData, name: string): string {
  return String(data.get(name) ?? '').trim();
}

/** The value of a password field, untrimmed. */
export function secretOf(data: FormData, name: string): string {
  return String(data.get(name) ?? '');
}
