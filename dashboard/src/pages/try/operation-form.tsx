/** The form of one operation, its request as a command, and the last response. */
import { useState } from 'react';
import { Code } from '../../components/content/copy-button.js';
import { Failure } from '../../components/feedback/notice.js';
import { Button } from '../../components/forms/button.js';
import { SelectField, TextArea, TextField } from '../../components/forms/field.js';
import { serverUrl } from '../../navigation/base-path.js';
import { type Call, type Operation, type Parameter, toCall, toCurl, type Values } from './open-api.js';

interface Response {
  readonly status: string;
  readonly headers: string;
  readonly body: string;
}

interface OperationFormProps {
  readonly operation: Operation;
  /** The id of the project, for all operations. */
  readonly project: string;
  readonly apiKey: string;
}

export function OperationForm({ operation, project, apiKey }: OperationFormProps) {
  const [typed, setTyped] = useState<Values>({});
  const [body, setBody] = useState(operation.sampleBody ?? '');
  const [result, setResult] = useState<Response | Error | null>(null);
  const values = { projectId: project, ...typed };
  const call = toCall(operation, { server: serverUrl(), values, body, key: apiKey });
  const send = async (): Promise<void> => setResult(await perform(call));
  return (
    <form
      className="stack operation-form"
      aria-label={operation.summary}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {operation.description !== undefined && <p className="quiet">{operation.description}</p>}
      {operation.parameters
        .filter(({ name }) => name !== 'projectId')
        .map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            value={typed[parameter.name] ?? ''}
            onChange={(value) => setTyped({ ...typed, [parameter.name]: value })}
          />
        ))}
      {operation.sampleBody !== undefined && (
        <TextArea
          label="Body, as JSON"
          name="body"
          rows={Math.min(body.split('\n').length + 1, 12)}
          spellCheck={false}
          value={body}
          onChange={(event) => setBody(event.target.value)}
        />
      )}
      <Code text={toCurl(call, operation.keys)} label={`Copy command: ${operation.summary}`} />
      <div className="row">
        <Button kind="primary" type="submit">
          Send
        </Button>
      </div>
      <div aria-live="polite">
        {result !== null && <Result result={result} name={`Response: ${operation.summary}`} />}
      </div>
    </form>
  );
}

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ParameterField({
  parameter: { name, description, required, schema },
  value,
  onChange,
}: ParameterFieldProps) {
  const shared = { label: name, name, hint: description, optional: required !== true, value };
  if (schema.enum === undefined)
    return (
      <TextField
        {...shared}
        mono
        spellCheck={false}
        placeholder={String(schema.default ?? '')}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  return (
    <SelectField {...shared} onChange={(event) => onChange(event.target.value)}>
      <option value="">Default: {String(schema.default)}</option>
      {schema.enum.map((one) => (
        <option key={String(one)}>{String(one)}</option>
      ))}
    </SelectField>
  );
}

function Result({ result, name }: { result: Response | Error; name: string }) {
  if (result instanceof Error) return <Failure error={result} what="The request failed." />;
  return (
    <section className="stack operation-result" aria-label={name}>
      <h3>{result.status}</h3>
      <p className="quiet small">{result.headers}</p>
      {result.body !== '' && <Code text={result.body} label={`Copy ${name}, its body`} />}
    </section>
  );
}

/** Headers that say something about the response itself. */
const SHOWN = /^(content-type|ratelimit.*|retry-after|allow|www-authenticate)$/;

async function perform({ method, url, headers, body }: Call): Promise<Response | Error> {
  try {
    // Without the session: the API takes keys.
    const response = await fetch(url, {
      method,
      headers,
      credentials: 'omit',
      ...(body === undefined ? {} : { body }),
    });
    const shown = [...response.headers].filter(([name]) => SHOWN.test(name));
    return {
      status: `${response.status} ${response.statusText}`.trim(),
      headers: shown.map(([name, value]) => `${name}: ${value}`).join(' · '),
      body: indent(await response.text()),
    };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
