/** Use cases of notifications: adding, changing and testing them. */
import { CallerStatsError } from '../../domain/errors.js';
import { CHANNEL_FORMS, type Channel } from '../../domain/notifications/channel.js';
import { messageId } from '../../domain/notifications/delivery.js';
import { writeTestMessage } from '../../domain/notifications/message.js';
import {
  type Destination,
  type Notification,
  parseTrigger,
  type Trigger,
  type TriggerRequest,
} from '../../domain/notifications/notification.js';
import { firstCheck } from '../../domain/notifications/schedule.js';
import type { Actor } from '../../domain/people/audit.js';
import type { Project } from '../../domain/projects/project.js';
import { generateId, type RandomInt } from '../../domain/random-text.js';
import { collectProblems, failure, prefixProblems, type Result, success } from '../../domain/result.js';
import type { Store } from '../../storage/ports/store.js';
import { requireProject } from '../projects.js';
import type { Channels } from './channels/channels.js';
import { newWebhookSecret } from './channels/webhook.js';
import { openDestination, reasonOf, type Seal } from './sending.js';

export interface NotificationSetup {
  readonly store: Store;
  readonly channels: Channels;
  readonly seal: Seal;
  /** The address of the dashboard; undefined if the server does not know its public address. */
  readonly pagesUrl: string | undefined;
  /** The address of a project's pages, likewise. */
  readonly linkTo: (projectId: string) => string | undefined;
  readonly randomInt: RandomInt;
}

export interface NotificationRequest extends TriggerRequest {
  readonly channel: Channel;
  /** The URL or e-mail address; undefined keeps the present one. */
  readonly destination: string | undefined;
}

/** A notification as stored, and the secret that signs its messages if it is new: it is shown this once. */
export interface SavedNotification {
  readonly notification: Notification;
  readonly secret: string | null;
}

/** Adds a notification to a project. Throws `invalid` with a detail for each problem; each begins with its field. */
export async function createNotification(
  setup: NotificationSetup,
  { organizationId, projectId }: Pick<Notification, 'organizationId' | 'projectId'>,
  request: NotificationRequest,
  by: Actor,
): Promise<SavedNotification> {
  const { store, randomInt } = setup;
  const { weekStart } = await requireProject(store, organizationId, projectId);
  const { trigger, target } = await readRequest(setup, request, undefined);
  const notification: Notification = {
    id: generateId(randomInt),
    organizationId,
    projectId,
    ...trigger,
    ...target.fields,
    createdBy: by.name,
    createdAt: by.at,
    checkAt: firstCheck(trigger, weekStart, by.at),
    incidentAt: null,
  };
  await store.notifications.create(notification, by);
  return { notification, secret: target.secret };
}

/** Changes a notification. A new trigger begins anew: it forgets a silence or spike that it has reported. */
export async function changeNotification(
  setup: NotificationSetup,
  { organizationId, id }: Pick<Notification, 'organizationId' | 'id'>,
  request: NotificationRequest,
  by: Actor,
): Promise<SavedNotification> {
  const before = await requireNotification(setup.store, organizationId, id);
  const { trigger, target } = await readRequest(setup, request, before);
  const { weekStart } = await requireProject(setup.store, organizationId, before.projectId);
  const isSame = (Object.keys(trigger) as (keyof Trigger)[]).every(
    (field) => trigger[field] === before[field],
  );
  const anew = isSame ? {} : { ...trigger, checkAt: firstCheck(trigger, weekStart, by.at), incidentAt: null };
  const change = { ...anew, ...target.fields };
  const notification = await setup.store.notifications.change(organizationId, id, change, by);
  return { notification, secret: target.secret };
}

/** Sends a test message, and returns why that failed; null if the receiver accepted it. */
export async function testNotification(
  setup: NotificationSetup,
  { organizationId, id }: Pick<Notification, 'organizationId' | 'id'>,
  by: Actor,
): Promise<string | null> {
  const { store, channels, seal, linkTo } = setup;
  const notification = await requireNotification(store, organizationId, id);
  const project: Project = await requireProject(store, organizationId, notification.projectId);
  const link = linkTo(project.id);
  const message = writeTestMessage({ project, notification, nowMs: by.at, link });
  let problem: string | null = null;
  try {
    const destination = await openDestination(seal, notification.destination);
    const sending = { id: messageId(id, `test at ${by.at}`), message, destination, nowMs: by.at };
    await channels.send(notification.channel, sending);
  } catch (error) {
    problem = reasonOf(error);
  }
  await store.notifications.logTest(organizationId, id, problem ?? 'accepted', by);
  return problem;
}

async function requireNotification(store: Store, organizationId: string, id: string): Promise<Notification> {
  const notification = await store.notifications.findById(organizationId, id);
  if (notification === undefined) throw new CallerStatsError('not_found', `There is no notification ${id}.`);
  return notification;
}

/** Where messages go, as it is stored; without fields if it does not change. */
interface Target {
  readonly fields: Pick<Notification, 'channel' | 'destination' | 'shownDestination'>;
  readonly secret: string | null;
}

async function readRequest(
  setup: NotificationSetup,
  request: NotificationRequest,
  before: Notification | undefined,
): Promise<{ readonly trigger: Trigger; readonly target: Target }> {
  const trigger = parseTrigger(request);
  const destination = readDestination(setup.channels, request, before);
  const problems = collectProblems(trigger, destination);
  if (!(trigger.ok && destination.ok))
    throw new CallerStatsError('invalid', 'The request is invalid.', { details: problems });
  const target = await toTarget(setup, request.channel, destination.value);
  return { trigger: trigger.value, target };
}

type ReadDestination = { readonly kept: Target['fields'] } | { readonly to: string; readonly shown: string };

function readDestination(
  { sendsEmail, allowsHttp }: Channels,
  { channel, destination }: NotificationRequest,
  before: Notification | undefined,
): Result<ReadDestination> {
  if (CHANNEL_FORMS[channel].form === 'mail' && !sendsEmail) {
    return failure('channel: this server sends no e-mail; its operator can set CALLER_STATS_SMTP_URL for it');
  }
  if (destination !== undefined)
    return prefixProblems(
      'destination',
      CHANNEL_FORMS[channel].parseDestination(destination, { allowsHttp }),
    );
  if (before?.channel !== channel) return failure('destination: is missing');
  const { destination: kept, shownDestination } = before;
  return success({ kept: { channel, destination: kept, shownDestination } });
}

async function toTarget(
  { seal, randomInt }: { readonly seal: Seal; readonly randomInt: RandomInt },
  channel: Channel,
  read: ReadDestination,
): Promise<Target> {
  if ('kept' in read) return { fields: read.kept, secret: null };
  const secret = CHANNEL_FORMS[channel].form === 'signed' ? newWebhookSecret(randomInt) : null;
  const { to, shown } = read;
  const destination: Destination = secret === null ? { to } : { to, secret };
  const sealed = await seal.seal(JSON.stringify(destination));
  return { fields: { channel, destination: sealed, shownDestination: shown }, secret };
}
