/** Which pages of a SQLite file are of which kind (sqlite.org/fileformat.html). */
import { readFileSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';

export const pageSize = 4096;

/** By the first byte of a b-tree page. On the first page, it follows the file's header. */
const kinds: ReadonlyMap<number, string> = new Map([
  [2, 'interior index page'],
  [5, 'interior table page'],
  [10, 'leaf index page'],
  [13, 'leaf table page'],
]);

/** Adds kinds of pages that a file may lack: those of a row longer than a page, and free pages. */
export function withEveryKindOfPage(file: string): void {
  const db = new DatabaseSync(file);
  db.exec(`
    UPDATE project SET name = hex(zeroblob(4000));
    CREATE TABLE freed (x); INSERT INTO freed VALUES (zeroblob(50000)); DROP TABLE freed;
    PRAGMA wal_checkpoint(TRUNCATE);
    PRAGMA journal_mode = DELETE;
    PRAGMA journal_mode = WAL;
  `);
  db.close();
}

/** The numbers of the pages of each kind, from 1. */
export function pagesOf(file: string): ReadonlyMap<string, readonly number[]> {
  const bytes = readFileSync(file);
  const db = new DatabaseSync(file);
  const used = new Map(
    db
      .prepare('SELECT pageno, pagetype FROM dbstat')
      .all()
      .map(({ pageno, pagetype }) => [Number(pageno), String(pagetype)]),
  );
  db.close();
  const pages = new Map<string, number[]>([['header', [1]]]);
  for (let page = 1; page <= bytes.length / pageSize; page++) {
    const flag = bytes[(page - 1) * pageSize + (page === 1 ? 100 : 0)] ?? 0;
    const type = used.get(page);
    const kind =
      type === undefined
        ? 'free page'
        : type === 'overflow'
          ? 'overflow page'
          : (kinds.get(flag) ?? 'other page');
    pages.set(kind, [...(pages.get(kind) ?? []), page]);
  }
  return pages;
}
