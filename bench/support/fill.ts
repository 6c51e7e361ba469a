/** Fills a project of a file that nobody else has open. Arguments: the file, and which of them. */
import { DatabaseSync } from '@photostructure/sqlite';
import { FILLS } from './fills.js';

const [file = '', which = ''] = process.argv.slice(2);
const db = new DatabaseSync(file);
FILLS[which as keyof typeof FILLS](db);
db.close();
