/** Which spans and log records of OpenTelemetry are queries of the project. */
import type { ReactNode } from 'react';
import { telemetryTextCharactersMax } from '../../../../src/domain/limits.js';
import { TELEMETRY_DEFAULTS } from '../../../../src/domain/queries/telemetry-defaults.js';
import type { TelemetrySetting } from '../../api/types.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { TextField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { ProjectForm } from './project-form.js';

const FIELDS: readonly {
  readonly name: TelemetrySetting;
  readonly label: string;
  readonly hint: ReactNode;
}[] = [
  {
    name: 'otlpQuery',
    label: 'Rules',
    hint: 'What belongs to a question: attribute=value, several values with commas, several rules with semicolons. “default” stands for the known instrumentations.',
  },
  {
    name: 'otlpId',
    label: 'What one question is',
    hint: '“question”, “trace”, “span”, or an attribute whose values tell questions apart. While this changes, questions on their way may count twice.',
  },
  { name: 'otlpCaller', label: 'Attribute with the caller', hint: 'Of the span, log record or resource.' },
  {
    name: 'otlpDefaultCaller',
    label: 'Default caller',
    hint: 'If neither attributes nor headers name one: “web”, “api”, or the name of an integration.',
  },
  {
    name: 'otlpSiteOrigins',
    label: 'Origins of the documentation site',
    hint: 'With commas; requests from them have the caller “web”. “none” for no origin.',
  },
];

export function Telemetry(current: CurrentProject) {
  const { project } = current;
  return (
    <ProjectForm
      current={current}
      title="OpenTelemetry"
      lead={
        <>
          Which spans and log records are queries, from the next request on. Where a field is empty, the
          default applies, which it shows. See <DocsLink page="opentelemetry">OpenTelemetry</DocsLink>.
        </>
      }
      what="OpenTelemetry settings"
      done="The OpenTelemetry settings are saved"
      toChange={(form) => {
        const texts = FIELDS.map(({ name }) => [name, getText(form, name) || null] as const);
        return Object.fromEntries(texts.filter(([name, text]) => text !== project[name]));
      }}
    >
      {FIELDS.map(({ name, label, hint }) => (
        <TextField
          key={name}
          label={label}
          name={name}
          hint={hint}
          defaultValue={project[name] ?? ''}
          placeholder={TELEMETRY_DEFAULTS[name]}
          maxLength={telemetryTextCharactersMax}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          mono
        />
      ))}
    </ProjectForm>
  );
}
