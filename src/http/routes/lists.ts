/** Long lists of an organization, or of a project. A few at a time are in memory, and each is written in pieces. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { JSON_FORM, type Listing, writeInPieces } from '../../app/reading/pieces.js';
import { readInSlot } from '../../app/reading/reports.js';
import { listsMax, waitingReportsMax } from '../../domain/limits.js';
import { Slots } from '../../shared/slots.js';
import { onFinished } from '../connection/connections.js';

/** A member may have 100 projects. 200 such members are written in a few milliseconds. */
const itemsInPiece = 200;

const slots = new Slots(listsMax, waitingReportsMax);

/** Who waits for a list. */
interface Waiting {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** An organization or a user: owners take turns. */
  readonly owner: string;
}

/** Sends what `read` returns as JSON. `read` finds the lists, and makes the answer with `writeList`. */
export async function sendLists(
  { request, reply, owner }: Waiting,
  read: () => Promise<Buffer>,
): Promise<FastifyReply> {
  const onGone = (callback: () => void) => onFinished(request.raw, reply.raw, callback);
  const body = await readInSlot({ slots, owner, onGone }, { isLong: true }, {}, read);
  return reply.type('application/json; charset=utf-8').send(body);
}

/** The JSON of an answer that is mainly the list of this name. */
export function writeList<List extends string, Answer extends Listing<List>>(
  answer: Answer,
  list: List,
  itemsMax = itemsInPiece,
): Promise<Buffer> {
  return writeInPieces(answer, list, JSON_FORM, JSON.stringify, itemsMax);
}
