/** Fills the project `hot` in a database file that no other process has open. Argument: the file. */
import { DatabaseSync } from '@photostructure/sqlite';
import { fillHot } from './fills.js';

const db = new DatabaseSync(process.argv[2] ?? '');
fillHot(db);
db.close();
