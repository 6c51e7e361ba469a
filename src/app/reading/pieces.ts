/** Writes answers with long lists in pieces, with the other work of the event loop in between. */
import { Turns } from '../../shared/turns.js';

/** As many are written in about a millisecond. A series by caller has no more buckets, so it is always written whole. */
const itemsInPiece = 1_000;

/** All answers of the process share its turns: together, they take no more of each than one of them. */
const turns = new Turns();

/** How texts of the same answer with other items in its list are put together. */
interface Form {
  readonly separator: string;
  /** Where the items begin in the text of an answer without any. */
  readonly findItems: (text: string, list: string) => number;
}

export const JSON_FORM: Form = {
  separator: ',',
  findItems: (text, list) => {
    const field = `"${list}":[`;
    const at = text.indexOf(`${field}]`);
    if (at === -1) throw new Error(`Invariant violated: the answer has a list ${list}.`);
    return at + field.length;
  },
};

export const CSV_FORM: Form = { separator: '', findItems: (text) => text.length };

/** An answer with a list of this name. */
export type Listing<List extends string> = { readonly [Name in List]: readonly unknown[] };

/** What `write` returns for the answer, as bytes. `write` is called with parts of the list `list`, of at most `itemsMax` items. */
export async function writeInPieces<List extends string, Answer extends Listing<List>>(
  answer: Answer,
  list: List,
  { separator, findItems }: Form,
  write: (answer: Answer) => string,
  itemsMax = itemsInPiece,
): Promise<Buffer> {
  const items = answer[list];
  if (items.length <= itemsMax) return Buffer.from(write(answer));
  const empty = write({ ...answer, [list]: [] });
  const begin = findItems(empty, list);
  const parts = [Buffer.from(empty.slice(0, begin))];
  for (let at = 0; at < items.length; at += itemsMax) {
    const text = await turns.next(async () => write({ ...answer, [list]: items.slice(at, at + itemsMax) }));
    const piece = text.slice(begin, text.length - (empty.length - begin));
    parts.push(Buffer.from(at === 0 ? piece : separator + piece));
  }
  parts.push(Buffer.from(empty.slice(begin)));
  return Buffer.concat(parts);
}
