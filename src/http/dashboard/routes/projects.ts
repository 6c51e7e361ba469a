/** Projects of an organization. */
import type { FastifyInstance } from 'fastify';
import { projectToJson } from '../../../app/json.js';
import { changeProject, createProject, deleteProject, listReadable } from '../../../app/projects.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { retentionDaysMax, takenIdsMax, takenIdsWindowSeconds } from '../../../domain/limits.js';
import type { Rights } from '../../../domain/people/member.js';
import { parseNewId } from '../../../domain/projects/project.js';
import { isRetentionDays } from '../../../domain/projects/retention.js';
import { mapTelemetrySettings, parseTelemetryText } from '../../../domain/queries/telemetry-settings.js';
import { failure, type Result, success } from '../../../domain/result.js';
import { parseWeekStart } from '../../../domain/time/calendar.js';
import { parseBound } from '../../../domain/time/date-time.js';
import { parseTimeZone } from '../../../domain/time/time-zone.js';
import type { Throttles } from '../../../storage/ports/throttles.js';
import { type FieldReader, name, optional, readFields, text } from '../../request/fields.js';
import { sendLists, writeList } from '../../routes/lists.js';
import { takeAttempt } from '../attempts.js';
import type { Dashboard } from '../context.js';
import { created, getExistingId } from '../requests.js';
import type { ProjectsResponse } from '../responses.js';

export function addProjects(app: FastifyInstance, dashboard: Dashboard): void {
  const { store, sessionGuard, randomInt } = dashboard;
  sessionGuard.addMemberResource(app, '/projects', ['reader', 'editor'], {
    GET: ({ organizationId, rights }, request, reply) =>
      sendLists({ request, reply, owner: organizationId }, () =>
        writeProjects(dashboard, { organizationId, ...rights }),
      ),
    POST: async ({ organizationId, by }, request, reply) => {
      const fields = readFields(request, { name, id: optional(projectId) });
      const create = () => createProject({ store, randomInt }, { ...fields, organizationId }, by);
      const project =
        fields.id === undefined
          ? await create()
          : await limitTakenIds(store.throttles, { organizationId, nowMs: by.at }, create);
      return created(reply, projectToJson(project));
    },
  });
  sessionGuard.addMemberResource(app, '/projects/:projectId', 'editor', {
    PATCH: async ({ organizationId, by }, request) => {
      const change = readFields(request, {
        name: optional(name),
        timeZone: optional(timeZone),
        weekStart: optional(weekStart),
        retentionDays: optional(retentionDays),
        earliestAt: optional(textOrNull(parseBound)),
        ...mapTelemetrySettings((setting) =>
          optional(textOrNull((given) => parseTelemetryText(setting, given))),
        ),
      });
      const target = { organizationId, id: getExistingId(request) };
      return projectToJson(await changeProject(store, target, change, by));
    },
    DELETE: async ({ organizationId, by }, request) => {
      const { name: typed } = readFields(request, { name: text });
      const target = { organizationId, id: getExistingId(request) };
      await deleteProject(store, target, { name: typed, field: 'name' }, by);
    },
  });
}

/** The JSON of a `ProjectsResponse`: the projects that a member may read. */
export async function writeProjects(
  { store }: Pick<Dashboard, 'store'>,
  member: Rights & { readonly organizationId: string },
): Promise<Buffer> {
  const projects = await listReadable(store, member);
  const answer: ProjectsResponse = { projects: projects.map(projectToJson) };
  return writeList(answer, 'projects');
}

function projectId(value: unknown): Result<string> {
  return parseNewId(typeof value === 'string' ? value : '');
}

const timeZone = textOrNull(parseTimeZone);
const weekStart = textOrNull(parseWeekStart);

function retentionDays(value: unknown): Result<number | null> {
  if (value === null) return success(null);
  return typeof value === 'number' && isRetentionDays(value)
    ? success(value)
    : failure(`is not a whole number of days from 1 to ${retentionDaysMax}, or null`);
}

function textOrNull<T>(parse: (text: string) => Result<T>): FieldReader<T | null> {
  return (value) => {
    if (value === null) return success(null);
    return typeof value === 'string' ? parse(value) : failure('is neither a text nor null');
  };
}

/** Counts attempts to create a project with an id that is not free. Throws `429` above a limit. */
async function limitTakenIds<T>(
  throttles: Throttles,
  { organizationId, nowMs }: { readonly organizationId: string; readonly nowMs: number },
  create: () => Promise<T>,
): Promise<T> {
  // Counted first, so that parallel attempts do not pass the limit.
  const giveBack = await takeAttempt(throttles, nowMs, {
    subject: `taken ids in ${organizationId}`,
    attemptsMax: takenIdsMax,
    windowSeconds: takenIdsWindowSeconds,
    message: 'Too many ids were not free. Try again within an hour, or leave the id out.',
  });
  let isTaken = false;
  try {
    return await create();
  } catch (error) {
    isTaken = error instanceof CallerStatsError && error.code === 'already_exists';
    throw error;
  } finally {
    if (!isTaken) await giveBack();
  }
}
