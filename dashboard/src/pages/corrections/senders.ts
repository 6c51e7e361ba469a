/** Who has sent queries to a project, by the texts with which corrections name them. */
import { useQuery } from '@tanstack/react-query';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { ingestionQuery } from '../../api/ingestion.js';
import { keysQuery } from '../../api/keys.js';
import type { IngestionSource, Key } from '../../api/types.js';
import type { CurrentProject } from '../../navigation/current-project.js';

export type Senders = ReadonlyMap<string, string>;

const OTHERS: Senders = new Map([
  ['import', 'The command import'],
  ['copy', 'The command copy'],
  ['unknown', 'Not known, because the server did not keep it yet'],
]);

/** The senders with their names; undefined while they are loading. */
export function useSenders({ organization, project }: CurrentProject): Senders | undefined {
  const ref = { organizationId: organization.id, projectId: project.id };
  const { data: report } = useQuery(ingestionQuery(ref));
  const { data: listed } = useQuery({
    ...keysQuery(organization.id),
    enabled: roleAllows(organization.role, 'viewer'),
  });
  if (report === undefined || listed === undefined) return undefined;
  const keys = lastUsedFirst(listed.keys).filter((key) => key.project === null || key.project === project.id);
  const services = report.sources.filter(({ kind }) => kind === 'traces' || kind === 'logs');
  return new Map([
    ...keys
      .filter(({ type }) => type !== 'reading')
      .map(({ id, name, start, end }): [string, string] => [`key:${id}`, `${name} (${start}…${end})`]),
    ...services.map(({ name }): [string, string] => [`telemetry:${name}`, `${name} (OpenTelemetry)`]),
    ...OTHERS,
  ]);
}

/** The sender of what a source recorded; undefined if it recorded no queries. Of keys with one name, the one used last. */
export function senderOf({ kind, name }: IngestionSource, keys: readonly Key[]): string | undefined {
  switch (kind) {
    case 'traces':
    case 'logs':
      return `telemetry:${name}`;
    case 'queries': {
      const key = lastUsedFirst(keys).find((one) => one.name === name);
      return key && `key:${key.id}`;
    }
    case 'import':
      return undefined;
  }
}

function lastUsedFirst(keys: readonly Key[]): readonly Key[] {
  return keys.toSorted((one, other) => ((one.lastUsedAt ?? '') < (other.lastUsedAt ?? '') ? 1 : -1));
}
